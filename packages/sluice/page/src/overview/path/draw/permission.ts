import { along } from "./geometry.ts";
import type { Point } from "./geometry.ts";
import type { Brush } from "./pen.ts";

/** Permission and reasons go left: dotted lines with an arrow. */
export function dotted(brush: Brush, points: readonly Point[]): void {
  const { pen } = brush;
  dot(brush);
  pen.beginPath();
  for (const [index, { x, y }] of points.entries())
    if (index === 0) pen.moveTo(x, y);
    else pen.lineTo(x, y);
  pen.stroke();
  pen.setLineDash([]);
  const last = points.at(-1);
  const before = points.at(-2);
  if (last !== undefined && before !== undefined) arrow(brush, before, last);
}

/** A throttle notice on its way to a producer: the square moves left. */
export function notice(brush: Brush, from: Point, to: Point, seed: number): void {
  const { pen, palette, seconds } = brush;
  const middle = (from.x + to.x) / 2;
  dot(brush);
  pen.beginPath();
  pen.moveTo(from.x, from.y);
  pen.bezierCurveTo(middle, from.y, middle, to.y, to.x + 6, to.y);
  pen.stroke();
  pen.setLineDash([]);
  arrow(brush, { x: to.x + 20, y: to.y }, { x: to.x + 1, y: to.y });
  const part = (seconds * 0.9 + seed * 0.37) % 1;
  const { x, y } = along(from, to, part);
  pen.fillStyle = palette.ink("amber-fill");
  pen.fillRect(x - 2.5, y - 2.5, 5, 5);
}

function dot({ pen, palette }: Brush): void {
  pen.setLineDash([2, 4]);
  pen.strokeStyle = palette.ink("text-3");
  pen.lineWidth = 1.3;
}

function arrow({ pen, palette }: Brush, from: Point, to: Point): void {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  if (length === 0) return;
  const [dx, dy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  pen.fillStyle = palette.ink("text-3");
  pen.beginPath();
  pen.moveTo(to.x, to.y);
  pen.lineTo(to.x - 6 * dx - 3.5 * dy, to.y - 6 * dy + 3.5 * dx);
  pen.lineTo(to.x - 6 * dx + 3.5 * dy, to.y - 6 * dy - 3.5 * dx);
  pen.fill();
}
