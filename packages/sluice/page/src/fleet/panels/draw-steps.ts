import type { Plot } from "../../chart/time-chart.tsx";
import type { LiveSample, LiveShare } from "../../../../src/live/live-message.ts";

/** A fall of the ceiling by less than this part is a rounding. */
const FALL = 0.002;
/** A ceiling up to this part above its least is at its least. */
const AT_LEAST = 1.02;
/** Falls that are closer than this are one decline and have one note, ms. */
const DECLINE_MS = 40_000;
/** Narrower charts have no notes; px. */
const NOTES_FROM = 560;

/** Notes at the falls of a ceiling: it starts again at its least, or steps down, or a new limit is lower. */
export function drawSteps(
  { pen, palette: { ink, font }, samples, x, y, left, right }: Plot,
  of: (sample: LiveSample) => LiveShare | undefined,
): void {
  if (right - left < NOTES_FROM) return;
  pen.save();
  pen.font = font(11);
  pen.textAlign = "left";
  pen.textBaseline = "alphabetic";
  pen.lineJoin = "round";
  pen.setLineDash([]);
  let before: LiveShare | undefined;
  let lastMs = -Infinity;
  for (const sample of samples) {
    const share = of(sample);
    const text = before && share && noteOf(before, share);
    if (share !== undefined) before = share;
    if (text === undefined) continue;
    const isSame = sample.atMs - lastMs < DECLINE_MS;
    lastMs = sample.atMs;
    if (isSame) continue;
    const wide = pen.measureText(text).width;
    const at = Math.min(right - wide - 4, x(sample.atMs) + 6);
    const height = y(share?.ceiling ?? 0) - 8;
    pen.lineWidth = 4;
    pen.strokeStyle = ink("surface");
    pen.strokeText(text, at, height);
    pen.fillStyle = ink("text-2");
    pen.fillText(text, at, height);
  }
  pen.restore();
}

function noteOf(before: LiveShare, now: LiveShare): string | undefined {
  const { ceiling: was } = before;
  const { ceiling, min, max } = now;
  if (was === undefined || ceiling === undefined || ceiling >= was * (1 - FALL)) return undefined;
  if (before.max !== max) return "a lower limit was set";
  return min !== undefined && ceiling <= min * AT_LEAST ? "starts again at min" : "steps down";
}
