import { mulDivFloor } from "../exact.ts";

/** Where a ramp runs: from `min` to `max` tokens an epoch, in `rampUpMs`. */
export interface RampBounds {
  readonly min: number;
  readonly max: number;
  readonly rampUpMs: number;
}

/**
 * How far up the ramp: `anchor` tokens and `hundredths` of a step from there, one step being the
 * slope. A level is never summed from fractions, so a week of steps ends where it should. It is
 * anchored anew whenever it touches `min` or `max`.
 */
export interface Level {
  readonly anchor: number;
  readonly hundredths: number;
}

export const STEP = 100;

export function levelAt(anchor: number): Level {
  return { anchor, hundredths: 0 };
}

/** The whole tokens of a level. */
export function ceilingOf({ anchor, hundredths }: Level, bounds: RampBounds): number {
  if (hundredths === 0) return anchor;
  return anchor + mulDivFloor(hundredths * 10, bounds.max - bounds.min, bounds.rampUpMs);
}

/** Moves a level by hundredths of a step, up or down, within its bounds. */
export function moveLevel(level: Level, hundredths: number, bounds: RampBounds): Level {
  if (hundredths === 0) return level;
  // No duration means that one step, and any part of one, is the whole way.
  if (bounds.rampUpMs === 0) return levelAt(hundredths > 0 ? bounds.max : bounds.min);
  const moved = { anchor: level.anchor, hundredths: level.hundredths + hundredths };
  const ceiling = ceilingOf(moved, bounds);
  if (ceiling >= bounds.max) return levelAt(bounds.max);
  return ceiling < bounds.min ? levelAt(bounds.min) : moved;
}
