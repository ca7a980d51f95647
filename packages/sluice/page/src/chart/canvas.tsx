import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { fitCanvas } from "./fit-canvas.ts";
import { palette } from "./palette.ts";
import type { Palette } from "./palette.ts";
import { useSeen } from "./use-seen.ts";

/** What a drawing is made with; it counts in CSS pixels. */
export interface Sheet {
  readonly pen: CanvasRenderingContext2D;
  readonly palette: Palette;
  readonly width: number;
  readonly height: number;
}

export interface CanvasProps {
  readonly height: number;
  /** What it shows, and where the same stands in words. */
  readonly label: string;
  readonly draw: (sheet: Sheet) => void;
}

/** A canvas as wide as its place, drawn again with each render, in a new size and in another theme. */
export function Canvas({ height, label, draw }: CanvasProps): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const width = useRef(0);
  const colors = palette.value;
  const paint = (): void => {
    const fitted = canvas.current && fitCanvas(canvas.current, width.current, height);
    if (fitted) draw({ ...fitted, palette: colors });
  };
  const latest = useRef(paint);
  latest.current = paint;
  const isSeen = useSeen(canvas, () => latest.current());
  useLayoutEffect(() => {
    if (isSeen.current) paint();
  });
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => {
      width.current = element.clientWidth;
      latest.current();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return (
    <canvas
      class="drawing"
      ref={canvas}
      role="img"
      aria-label={label}
      style={{ height: `${height}px` }}
    />
  );
}

/** Text with a rim of the panel's colour, so that it can be read on bands and lines. */
export function rimmedText(
  { pen, palette: { ink } }: Sheet,
  text: string,
  x: number,
  y: number,
): void {
  pen.lineWidth = 4;
  pen.lineJoin = "round";
  pen.strokeStyle = ink("surface", 0.85);
  pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
}
