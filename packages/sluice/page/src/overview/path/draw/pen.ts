import type { Palette } from "../../../chart/palette.ts";
import { along } from "./geometry.ts";
import type { Point } from "./geometry.ts";

/** What all parts of the picture draw with. */
export interface Brush {
  readonly pen: CanvasRenderingContext2D;
  readonly palette: Palette;
  /** Time of the drops, s; they stand still while it does. */
  readonly seconds: number;
  /** The number of the gate that is lit up. */
  readonly lit: number | undefined;
}

type Fill = string | CanvasPattern | CanvasGradient;

/** A band from one point to another that leaves and arrives level. */
export function ribbon(
  { pen }: Brush,
  from: Point,
  to: Point,
  { width, fill }: { readonly width: number; readonly fill: Fill },
): void {
  const middle = (from.x + to.x) / 2;
  const half = width / 2;
  pen.beginPath();
  pen.moveTo(from.x, from.y - half);
  pen.bezierCurveTo(middle, from.y - half, middle, to.y - half, to.x, to.y - half);
  pen.lineTo(to.x, to.y + half);
  pen.bezierCurveTo(middle, to.y + half, middle, from.y + half, from.x, from.y + half);
  pen.closePath();
  pen.fillStyle = fill;
  pen.fill();
}

/** Water that grows denser to the right. */
export function flowFill({ pen, palette }: Brush, from: Point, to: Point): CanvasGradient {
  const gradient = pen.createLinearGradient(from.x, 0, to.x, 0);
  gradient.addColorStop(0, palette.ink("water", palette.isDark ? 0.34 : 0.36));
  gradient.addColorStop(1, palette.ink("water", 0.62));
  return gradient;
}

/** Water that thins out to nothing: what goes where the picture does not show it. */
export function fadeFill({ pen, palette }: Brush, from: Point, to: Point): CanvasGradient {
  const gradient = pen.createLinearGradient(from.x, from.y, to.x, to.y);
  gradient.addColorStop(0, palette.ink("water", palette.isDark ? 0.46 : 0.5));
  gradient.addColorStop(1, palette.ink("water", 0.01));
  return gradient;
}

/** Pixels a second of a drop, and the fewest and most drops of a ribbon. */
const DROP_SPEED = 46;
const DROPS_LEAST = 2;
const DROPS_MOST = 12;

/** Drops that move along a ribbon: more for a higher rate. They differ by `seed`, not by chance. */
export function drops(
  { pen, palette, seconds }: Brush,
  from: Point,
  to: Point,
  { width, rate, seed }: { readonly width: number; readonly rate: number; readonly seed: number },
): void {
  if (rate < 0.05) return;
  const length = Math.max(30, Math.hypot(to.x - from.x, to.y - from.y));
  const wanted = Math.round(Math.sqrt(rate) * 0.2 * (length / 70));
  const count = Math.min(DROPS_MOST, Math.max(DROPS_LEAST, wanted));
  pen.strokeStyle = palette.isDark ? "#d9f0ff" : "#ffffff";
  pen.lineCap = "round";
  pen.lineWidth = 1.3;
  for (let index = 0; index < count; index++) {
    const noise = fraction(Math.sin(index * 91.7 + seed * 13.1) * 43_758.5453);
    const speed = (DROP_SPEED / length) * (0.85 + noise * 0.3);
    const part = fraction(index / count + noise * 0.3 + seconds * speed);
    const aside = (fraction(noise * 7_919) - 0.5) * Math.max(0, width - 3);
    const head = along(from, to, part);
    const tail = along(from, to, Math.max(0, part - 6 / length));
    pen.globalAlpha = 0.8 * Math.min(1, part * 7, (1 - part) * 7);
    pen.beginPath();
    pen.moveTo(tail.x, tail.y + aside);
    pen.lineTo(head.x, head.y + aside);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  pen.lineCap = "butt";
}

function fraction(value: number): number {
  return value - Math.floor(value);
}
