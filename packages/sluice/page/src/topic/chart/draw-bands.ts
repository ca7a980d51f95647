import { rimmedText } from "../../chart/canvas.tsx";
import type { Sheet } from "../../chart/canvas.tsx";
import { hatch } from "../../chart/texture.ts";
import { rateText } from "../../words/numbers.ts";
import type { BandLook } from "./band-look.ts";
import { SPAN_MS, xAt } from "./shares-frame.ts";
import type { Frame, SharesPicture } from "./shares-frame.ts";

/** What each producer got, stacked, and behind "now" what it would get, hatched. */
export function drawBands(sheet: Sheet, frame: Frame, picture: SharesPicture): void {
  const { stack, future, looks } = picture;
  const seen = stack.atMs.map((atMs) => Math.min(SPAN_MS, picture.nowMs - atMs));
  const first = stack.atMs.findIndex((atMs) => picture.nowMs - atMs <= SPAN_MS);
  const xs = seen.slice(Math.max(0, first)).map((age) => xAt(frame, age));
  let below: readonly number[] = xs.map(() => 0);
  let futureBelow = 0;
  for (const [index, band] of stack.bands.entries()) {
    const values = band.values.slice(Math.max(0, first));
    const above = values.map((value, at) => value + (below[at] ?? 0));
    const futureAbove = futureBelow + (future[index] ?? 0);
    const look = looks[index] ?? { token: "text-3", alpha: 0.3 };
    fillPast(sheet, frame, { xs, below, above, look });
    const edge = {
      from: [below.at(-1) ?? 0, above.at(-1) ?? 0],
      to: [futureBelow, futureAbove],
    } as const;
    fillFuture(sheet, frame, edge, look);
    labelFuture(sheet, frame, edge.to, {
      name: band.name ?? othersText(stack.bands.length),
      value: future[index] ?? 0,
    });
    below = above;
    futureBelow = futureAbove;
  }
}

interface Area {
  readonly xs: readonly number[];
  readonly below: readonly number[];
  readonly above: readonly number[];
  readonly look: BandLook;
}

function fillPast(
  { pen, palette: { ink } }: Sheet,
  { y }: Frame,
  { xs, below, above, look }: Area,
): void {
  if (xs.length < 2) return;
  pen.beginPath();
  for (const [at, x] of xs.entries()) pen.lineTo(x, y(above[at] ?? 0));
  for (let at = xs.length - 1; at >= 0; at--) pen.lineTo(xs[at] ?? 0, y(below[at] ?? 0));
  pen.closePath();
  pen.fillStyle = ink(look.token, look.alpha);
  pen.fill();
  pen.strokeStyle = ink("surface");
  pen.lineWidth = 1.5;
  pen.beginPath();
  for (const [at, x] of xs.entries()) pen.lineTo(x, y(above[at] ?? 0));
  pen.stroke();
}

/** From what a band has now to what it would have, in a short bend. */
function fillFuture(
  sheet: Sheet,
  { y, nowX, right }: Frame,
  {
    from,
    to,
  }: { readonly from: readonly [number, number]; readonly to: readonly [number, number] },
  { token, alpha }: BandLook,
): void {
  const { pen, palette } = sheet;
  const settled = nowX + 18;
  const bend = (fromX: number, fromY: number, toX: number, toY: number): void => {
    const middle = (fromX + toX) / 2;
    pen.bezierCurveTo(middle, fromY, middle, toY, toX, toY);
  };
  pen.beginPath();
  pen.moveTo(nowX, y(from[1]));
  bend(nowX, y(from[1]), settled, y(to[1]));
  pen.lineTo(right, y(to[1]));
  pen.lineTo(right, y(to[0]));
  pen.lineTo(settled, y(to[0]));
  bend(settled, y(to[0]), nowX, y(from[0]));
  pen.closePath();
  pen.fillStyle = palette.ink(token, alpha * 0.44);
  pen.fill();
  pen.fillStyle = hatch(pen, palette, { token, alpha: 0.4 + alpha * 0.6, gap: 6 });
  pen.fill();
}

function labelFuture(
  sheet: Sheet,
  { y, nowX, right }: Frame,
  [bottom, top]: readonly [number, number],
  { name, value }: { readonly name: string; readonly value: number },
): void {
  const {
    pen,
    palette: { ink, font },
  } = sheet;
  if (y(bottom) - y(top) < 13) return;
  pen.font = font(12, 600);
  pen.textAlign = "left";
  pen.fillStyle = ink("text");
  const room = right - nowX - 32;
  const rate = rateText(value);
  rimmedText(
    sheet,
    `${cut(pen, name, room - pen.measureText(`  ${rate}`).width)}  ${rate}`,
    nowX + 24,
    (y(bottom) + y(top)) / 2 + 4,
  );
}

/** What the band without a name is called. */
export function othersText(bands: number): string {
  return bands === 1 ? "all producers" : "others";
}

/** A name that is too wide ends with three dots. */
function cut(pen: CanvasRenderingContext2D, text: string, room: number): string {
  if (pen.measureText(text).width <= room) return text;
  let length = text.length;
  while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > room) length--;
  return `${text.slice(0, length)}…`;
}
