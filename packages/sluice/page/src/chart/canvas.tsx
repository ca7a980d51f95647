import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { palette } from "./palette.ts";
import type { Palette } from "./palette.ts";

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
  const latest = useRef(draw);
  latest.current = draw;
  const colors = palette.value;
  useLayoutEffect(() => paint(canvas.current, height, latest.current));
  useEffect(() => {
    const element = canvas.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => paint(element, height, latest.current));
    observer.observe(element);
    return () => observer.disconnect();
  }, [height, colors]);
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

function paint(
  canvas: HTMLCanvasElement | null,
  height: number,
  draw: (sheet: Sheet) => void,
): void {
  const pen = canvas?.getContext("2d");
  if (canvas === null || pen === null || pen === undefined) return;
  const scale = devicePixelRatio;
  const width = canvas.clientWidth;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, width, height);
  if (width > 0) draw({ pen, palette: palette.peek(), width, height });
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
