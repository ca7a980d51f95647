import { mulDivFloor } from "../numbers/exact.ts";

/** A ramp from `min` to `max` tokens per epoch in `rampUpMs`. */
export interface RampBounds {
  readonly min: number;
  readonly max: number;
  /** Milliseconds from `min` to `max`; 0 makes one step the whole way. */
  readonly rampUpMs: number;
}

/**
 * A position on the ramp: `anchor` tokens plus `hundredths` of a step, where one step is
 * (max − min) ÷ rampUpMs × 1000 ms. Fractions are not summed, so a week of steps has no rounding
 * error. The anchor is set anew whenever the level reaches `min` or `max`.
 */
export interface Level {
  readonly anchor: number;
  readonly hundredths: number;
}

/** One step in hundredths. */
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
  // Without a duration any part of a step is the whole way.
  if (bounds.rampUpMs === 0) return levelAt(hundredths > 0 ? bounds.max : bounds.min);
  const moved = { anchor: level.anchor, hundredths: level.hundredths + hundredths };
  const ceiling = ceilingOf(moved, bounds);
  if (ceiling >= bounds.max) return levelAt(bounds.max);
  return ceiling < bounds.min ? levelAt(bounds.min) : moved;
}
