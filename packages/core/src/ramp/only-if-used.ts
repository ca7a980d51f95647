import { moveLevel, STEP } from "./level.ts";
import { reaches } from "./mode.ts";
import type { Move, RampMode } from "./mode.ts";

export interface OnlyIfUsedOptions {
  /** Usage, in percent of what could be used, from which an epoch counts as used. */
  readonly thresholdPercentage: number;
}

/** One step up if the last epoch with a call was used to the threshold; otherwise the level stays. */
export function onlyIfUsed({ thresholdPercentage }: OnlyIfUsedOptions): RampMode {
  return ({ level, bounds, usage }): Move =>
    reaches(usage, thresholdPercentage)
      ? { level: moveLevel(level, STEP, bounds), step: "up" }
      : { level, step: "hold" };
}
