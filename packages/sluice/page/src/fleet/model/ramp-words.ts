import type { LivePoolDetail } from "../../../../src/live/live-message.ts";
import { countText, durationText } from "../../words/numbers.ts";

/** How the ceiling moves: the mode, its slope, and when it is at its top. */
export function rampWords({ settings, share }: LivePoolDetail): string {
  const { rampPerSecond } = settings;
  const [mode = ""] = settings.mode.split(":");
  const { ceiling, max, min, rampLeftMs } = share;
  if (max === undefined) return "";
  if (min !== undefined && min >= max) return `no ramp: always ${countText(max)}/s`;
  const slope =
    rampPerSecond === undefined ? mode : `${mode}: +${slopeText(rampPerSecond)}/s each second`;
  if (ceiling !== undefined && ceiling >= max) return `${slope}; at its max`;
  return rampLeftMs === undefined
    ? `${slope}; it does not grow now`
    : `${slope}; ${durationText(rampLeftMs)} to max`;
}

function slopeText(perSecond: number): string {
  return perSecond < 10 ? String(Math.round(perSecond * 100) / 100) : countText(perSecond);
}
