import type { FittedCanvas } from "../../chart/fit-canvas.ts";
import type { Palette } from "../../chart/palette.ts";
import { ageMark } from "../../chart/scale.ts";
import { reasonFill } from "../../chart/texture.ts";
import { WINDOW_MS } from "../../live/history.ts";
import { REASON_LOOKS } from "../../words/reasons.ts";
import type { Band, Lane } from "./lanes.ts";

export const LANE_HEIGHT = 44;
/** The tallest band, and the part of it that the smallest wait has. */
const BAND_HEIGHT = 26;
const BAND_LEAST = 5;
/** The width of the shortest reason, px: in a narrower band the name of its reason is not even measured. */
const LABEL_LEAST = 20;
const MINUTE_MS = 60_000;
/** A narrower time axis has no room for a mark at every minute, px. */
const EVERY_MINUTE_FROM = 300;

interface Drawn extends FittedCanvas {
  readonly palette: Palette;
  readonly lanes: readonly Lane[];
  readonly nowMs: number;
  readonly cursorAtMs: number | undefined;
}

/** Where the bands begin: the names stand left of it. */
export function laneLeft(width: number): number {
  return width < 420 ? 92 : 112;
}

export function drawLanes(drawn: Drawn): void {
  const { pen, palette, lanes, nowMs, width, cursorAtMs } = drawn;
  const left = laneLeft(width);
  const x = (atMs: number): number =>
    left + Math.max(0, (atMs - nowMs + WINDOW_MS) / WINDOW_MS) * (width - left - 2);
  for (const [index, lane] of lanes.entries()) {
    const base = (index + 1) * LANE_HEIGHT - 8;
    pen.strokeStyle = palette.ink("line");
    pen.lineWidth = 1;
    line(pen, left, base + 0.5, width, base + 0.5);
    pen.font = palette.font(12, 500);
    pen.textAlign = "left";
    pen.fillStyle = palette.ink(lane.isWaitingNow ? "text" : "text-3");
    pen.fillText(fitted(pen, lane.name, left - 8), 0, base - 4);
    for (const band of lane.bands) drawBand(drawn, band, { base, x });
  }
  const bottom = Math.max(1, lanes.length) * LANE_HEIGHT;
  pen.font = palette.font(10.5);
  pen.fillStyle = palette.ink("text-3");
  const minutes = width - left < EVERY_MINUTE_FROM ? [5, 3, 1, 0] : [5, 4, 3, 2, 1, 0];
  for (const age of minutes) {
    pen.textAlign = age === 0 ? "right" : age === 5 ? "left" : "center";
    pen.fillText(ageMark(age * MINUTE_MS), x(nowMs - age * MINUTE_MS), bottom + 14);
  }
  if (cursorAtMs === undefined) return;
  pen.strokeStyle = palette.ink("text-2");
  const cursorX = Math.round(x(cursorAtMs)) + 0.5;
  line(pen, cursorX, 0, cursorX, bottom - 8);
}

function drawBand(
  { pen, palette, width }: Drawn,
  { reason, points }: Band,
  { base, x }: { readonly base: number; readonly x: (atMs: number) => number },
): void {
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined) return;
  const from = x(first.atMs);
  const to = Math.max(x(last.atMs) + width / 900, from + 2);
  pen.beginPath();
  pen.moveTo(from, base);
  let drawnX = -Infinity;
  for (const { atMs, part } of points) {
    const at = x(atMs);
    // Two samples share a pixel: one corner is enough for both.
    if (at - drawnX < 1) continue;
    drawnX = at;
    pen.lineTo(at, base - bandHeight(part));
  }
  pen.lineTo(to, base - bandHeight(last.part));
  pen.lineTo(to, base);
  pen.closePath();
  pen.fillStyle = reasonFill(pen, palette, reason);
  pen.fill();
  pen.strokeStyle = palette.ink(REASON_LOOKS[reason].color);
  pen.lineWidth = 1;
  pen.stroke();
  if (to - from < LABEL_LEAST) return;
  pen.font = palette.font(10.5, 500);
  if (pen.measureText(reason).width + 2 > to - from) return;
  const top = points.reduce((most, { part }) => Math.max(most, part), 0);
  pen.fillStyle = palette.ink("text-2");
  pen.textAlign = "left";
  pen.fillText(reason, from + 1, base - bandHeight(top) - 4);
}

function bandHeight(part: number): number {
  return BAND_LEAST + part * (BAND_HEIGHT - BAND_LEAST);
}

/** A name that is too long ends with "…". */
function fitted(pen: CanvasRenderingContext2D, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  let length = text.length;
  while (length > 1 && pen.measureText(`${text.slice(0, length)}…`).width > width) length--;
  return `${text.slice(0, length)}…`;
}

function line(
  pen: CanvasRenderingContext2D,
  ...[x1, y1, x2, y2]: readonly [number, number, number, number]
): void {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}
