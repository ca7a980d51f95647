import type { Brush } from "./pen.ts";
import type { Point } from "./geometry.ts";

export interface GateLook {
  /** The height of the opening: what may pass. */
  readonly slot: number;
  readonly isClosed?: boolean;
  /** Its reason holds. */
  readonly isHot: boolean;
  readonly number?: 1 | 3 | 4 | 5 | undefined;
}

const BOARD_WIDTH = 4;

/** A board from above and a sill from below; the opening between them is what may pass. */
export function gate(
  brush: Brush,
  { x, y }: Point,
  { slot, isClosed = false, isHot, number }: GateLook,
): void {
  const half = Math.max(17, slot / 2 + 10);
  const opening = isClosed ? 0 : slot / 2 + 1.5;
  boards(brush, x, isHot, [
    [y - half, y - opening],
    [y + opening, y + half],
  ]);
  if (number !== undefined) badge(brush, { x, y: y - half - 10 }, { number, isHot });
}

/** One gate over several openings: the limit of a group. */
export function wideGate(
  brush: Brush,
  x: number,
  {
    openings,
    isHot,
  }: { readonly openings: readonly (readonly [number, number])[]; readonly isHot: boolean },
): void {
  const first = openings[0];
  const last = openings.at(-1);
  if (first === undefined || last === undefined) return;
  const edges = [first[0] - 10, ...openings.flat(), last[1] + 10];
  const parts: (readonly [number, number])[] = [];
  for (let index = 0; index + 1 < edges.length; index += 2)
    parts.push([edges[index] ?? 0, edges[index + 1] ?? 0]);
  boards(brush, x, isHot, parts);
}

function boards(
  { pen, palette }: Brush,
  x: number,
  isHot: boolean,
  parts: readonly (readonly [number, number])[],
): void {
  pen.fillStyle = palette.ink(isHot ? "amber-fill" : "text-2");
  for (const [from, to] of parts) {
    pen.beginPath();
    pen.roundRect(x - BOARD_WIDTH / 2, from, BOARD_WIDTH, Math.max(0, to - from), 1.5);
    pen.fill();
  }
}

/** The number of a throttle, lit up while its row in Waiting now is pointed at. */
export function badge(
  { pen, palette, lit }: Brush,
  { x, y }: Point,
  { number, isHot }: { readonly number: number; readonly isHot: boolean },
): void {
  const circle = (radius: number): void => {
    pen.beginPath();
    pen.arc(x, y, radius, 0, 2 * Math.PI);
  };
  if (lit === number) {
    circle(12);
    pen.fillStyle = palette.ink("text", 0.18);
    pen.fill();
  }
  circle(7.5);
  pen.fillStyle = palette.ink("surface");
  pen.fill();
  pen.strokeStyle = palette.ink(isHot ? "amber" : "line-strong");
  pen.lineWidth = 1.1;
  pen.stroke();
  pen.fillStyle = palette.ink(isHot ? "amber" : "text-2");
  pen.font = palette.font(10, 600);
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(String(number), x, y + 0.4);
  pen.textBaseline = "alphabetic";
}
