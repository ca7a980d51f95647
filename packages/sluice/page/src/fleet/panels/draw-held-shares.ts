import type { LivePoolPast } from "../../../../src/live/live-message.ts";
import type { Sheet } from "../../chart/canvas.tsx";
import { ageMark, marksUpTo, niceMax, timeMarks } from "../../chart/scale.ts";
import { hatch } from "../../chart/texture.ts";
import { countText } from "../../words/numbers.ts";
import { PAST_MS } from "../../../../src/live/pool-past.ts";
import { eventsOf, labelsOf } from "../model/pool-events.ts";
import type { EventLabel } from "../model/pool-events.ts";
import { spansOf } from "../model/pool-past.ts";
import type { Span } from "../model/pool-past.ts";

/** A past that is shorter is shown on an axis of this length. */
const SHORT_MS = 5 * 60_000;
const LANE = 24;
const AREA = 120;
const AXIS = 22;
const GAP = 12;
const LEFT = 62;
/** Lanes that are drawn; a pool that is redeployed often has had many members. */
const LANES_MAX = 12;
/** Labels of events: of one line above the axis, and lines that one may be moved up for lack of room; px. */
const LABEL = { line: 15, lines: 4, gap: 8 };
/** Narrower charts have no labels: the agreement says the last change in words. */
const LABELS_FROM = 560;
/** Members above the first are fainter, so that the areas can be told apart. */
const ALPHAS = [0.55, 0.42, 0.32, 0.24];

/** Those that are here now, and the latest of those that are gone. */
function lanesOf(past: readonly LivePoolPast[]): ReturnType<typeof spansOf> {
  const all = spansOf(past);
  if (all.length <= LANES_MAX) return all;
  const gone = all.filter(({ isHere }) => !isHere).slice(-(LANES_MAX / 2));
  const here = all.filter(({ isHere }) => isHere).slice(0, LANES_MAX - gone.length);
  return [...gone, ...here];
}

export function heightOf(past: readonly LivePoolPast[]): number {
  return Math.max(1, lanesOf(past).length) * LANE + GAP + AREA + AXIS;
}

/** The time that the chart spans: a process that has just started has no 15 minutes to show. */
export function windowMs(past: readonly LivePoolPast[], nowMs: number): number {
  return nowMs - (past[0]?.atMs ?? nowMs) > SHORT_MS ? PAST_MS : SHORT_MS;
}

export function drawHeldShares(sheet: Sheet, past: readonly LivePoolPast[], nowMs: number): void {
  const spanMs = windowMs(past, nowMs);
  const lanes = lanesOf(past);
  const x = (atMs: number): number =>
    LEFT + (1 - Math.min(spanMs, nowMs - atMs) / spanMs) * (sheet.width - LEFT - 2);
  for (const [index, { id, spans, isHere }] of lanes.entries()) {
    const top = index * LANE + 3;
    const {
      pen,
      palette: { ink, font },
    } = sheet;
    pen.font = font(12, 500);
    pen.textBaseline = "middle";
    pen.textAlign = "left";
    pen.fillStyle = ink(isHere ? "text" : "text-3");
    pen.fillText(id.length > 8 ? `${id.slice(0, 7)}…` : id, 0, top + 9);
    for (const span of spans) drawSpan(sheet, span, top, x);
  }
  const top = Math.max(1, lanes.length) * LANE + GAP;
  drawArea(
    sheet,
    past,
    lanes.map(({ id }) => id),
    { top, bottom: top + AREA, x },
  );
  drawLabels(sheet, labelsOf(eventsOf(past), spanMs), { top, bottom: top + AREA, x });
  drawTimes(sheet, top + AREA + 16, timeMarks(spanMs, sheet.width), (ageMs) => x(nowMs - ageMs));
}

function drawSpan(
  { pen, palette }: Sheet,
  span: Span,
  top: number,
  x: (atMs: number) => number,
): void {
  const { ink, isDark } = palette;
  const left = x(span.fromMs);
  const width = Math.max(1.5, x(span.toMs) - left);
  pen.beginPath();
  pen.roundRect(left, top, width, 18, 2);
  switch (span.state) {
    case "holds":
      pen.fillStyle = ink("water", isDark ? 0.5 : 0.55);
      break;
    case "releasing":
      pen.fillStyle = hatch(pen, palette, { token: "water", alpha: 0.9, gap: 4 });
      break;
    case "safe-share":
      pen.fillStyle = hatch(pen, palette, { token: "r-store", gap: 5 });
      break;
    case "lease-ended":
      pen.fillStyle = ink("text-3", 0.3);
      break;
    case "joining":
    case "left":
      pen.fillStyle = ink("surface");
      break;
  }
  pen.fill();
  if (span.state === "holds") return;
  pen.strokeStyle = ink(span.state === "safe-share" ? "r-store" : "line-strong");
  pen.lineWidth = 1;
  pen.setLineDash(span.state === "joining" ? [2, 2] : []);
  pen.strokeRect(left + 0.5, top + 0.5, Math.max(1, width - 1), 17);
  pen.setLineDash([]);
}

interface Area {
  readonly top: number;
  readonly bottom: number;
  readonly x: (atMs: number) => number;
}

function drawArea(
  sheet: Sheet,
  past: readonly LivePoolPast[],
  ids: readonly string[],
  { top, bottom, x }: Area,
): void {
  const {
    pen,
    palette: { ink, font },
    width,
  } = sheet;
  const sums = past.map(({ members }) => members.reduce((sum, { share }) => sum + share, 0));
  const most = niceMax(Math.max(1, ...sums, ...past.map(({ ceiling }) => ceiling ?? 0)) * 1.08);
  const y = (value: number): number => bottom - (value / most) * (bottom - top);
  pen.font = font(10.5);
  pen.textAlign = "right";
  pen.lineWidth = 1;
  for (const value of [0, ...marksUpTo(most)]) {
    pen.strokeStyle = ink(value === 0 ? "line-strong" : "line");
    pen.beginPath();
    pen.moveTo(LEFT, Math.round(y(value)) + 0.5);
    pen.lineTo(width, Math.round(y(value)) + 0.5);
    pen.stroke();
    pen.fillStyle = ink("text-3");
    pen.fillText(countText(value), LEFT - 8, y(value));
  }
  let below: readonly number[] = past.map(() => 0);
  for (const [index, id] of ids.entries()) {
    const above = past.map(
      ({ members }, at) => (below[at] ?? 0) + (members.find((one) => one.id === id)?.share ?? 0),
    );
    pen.beginPath();
    for (const [at, { atMs }] of past.entries()) pen.lineTo(x(atMs), y(above[at] ?? 0));
    for (let at = past.length - 1; at >= 0; at--)
      pen.lineTo(x(past[at]?.atMs ?? 0), y(below[at] ?? 0));
    pen.closePath();
    pen.fillStyle = ink("water", ALPHAS[Math.min(index, ALPHAS.length - 1)]);
    pen.fill();
    pen.strokeStyle = ink("surface");
    pen.stroke();
    below = above;
  }
  pen.setLineDash([5, 3]);
  pen.strokeStyle = ink("text");
  pen.lineWidth = 1.4;
  pen.beginPath();
  for (const { atMs, ceiling } of past) if (ceiling !== undefined) pen.lineTo(x(atMs), y(ceiling));
  pen.stroke();
  pen.setLineDash([]);
}

/** What happened, at its time; a label that would cover the one before it stands a line higher. */
function drawLabels(
  { pen, palette: { ink, font }, width }: Sheet,
  labels: readonly EventLabel[],
  { top, bottom, x }: Area,
): void {
  if (width < LABELS_FROM) return;
  pen.font = font(11);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.lineJoin = "round";
  /** Where the labels of each line end so far. */
  const ends = Array.from({ length: LABEL.lines }, () => -Infinity);
  for (const { atMs, text } of labels) {
    const at = x(atMs);
    const wide = pen.measureText(text).width;
    const left = Math.max(LEFT + 2, Math.min(width - 2 - wide, at - wide / 2));
    const line = ends.findIndex((end) => left >= end + LABEL.gap);
    pen.lineWidth = 1;
    pen.strokeStyle = ink("line-strong");
    pen.setLineDash([2, 3]);
    pen.beginPath();
    pen.moveTo(Math.round(at) + 0.5, top);
    pen.lineTo(Math.round(at) + 0.5, bottom);
    pen.stroke();
    pen.setLineDash([]);
    if (line === -1) continue;
    ends[line] = left + wide;
    const y = bottom - 8 - line * LABEL.line;
    pen.lineWidth = 4;
    pen.strokeStyle = ink("surface");
    pen.strokeText(text, left, y);
    pen.fillStyle = ink("text-2");
    pen.fillText(text, left, y);
  }
}

function drawTimes(
  { pen, palette: { ink, font }, width }: Sheet,
  y: number,
  ages: readonly number[],
  x: (ageMs: number) => number,
): void {
  pen.font = font(10.5);
  pen.textBaseline = "alphabetic";
  pen.fillStyle = ink("text-3");
  for (const [index, ageMs] of ages.entries()) {
    pen.textAlign = index === 0 ? "left" : ageMs === 0 ? "right" : "center";
    pen.fillText(ageMark(ageMs), ageMs === 0 ? width - 2 : x(ageMs), y);
  }
}
