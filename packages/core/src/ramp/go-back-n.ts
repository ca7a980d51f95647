import { SECOND_MS } from "../time.ts";
import { moveLevel, STEP } from "./level.ts";
import { reaches } from "./mode.ts";
import type { Move, RampMode } from "./mode.ts";

export interface GoBackNOptions {
  /** Usage, in percent of what could be used, from which an epoch counts as used. */
  readonly thresholdPercentage: number;
  /** A gap longer than this many milliseconds lowers the level for every epoch without a call. */
  readonly coolDownMs: number;
  /** Percent of a step that each epoch without a call costs. Under-use always costs a whole step. */
  readonly rampDownPercentage: number;
}

/**
 * One step up if the last epoch with a call was used to the threshold, else one step down. After a
 * gap, down again for every epoch without a call.
 */
export function goBackN(options: GoBackNOptions): RampMode {
  return ({ level, bounds, epochsPassed, usage }): Move => {
    const isUsed = reaches(usage, options.thresholdPercentage);
    const stepped = moveLevel(level, isUsed ? STEP : -STEP, bounds);
    const missed = epochsPassed - 1;
    if (missed === 0 || epochsPassed * SECOND_MS <= options.coolDownMs) {
      return { level: stepped, step: isUsed ? "up" : "down" };
    }
    return { level: moveLevel(stepped, -options.rampDownPercentage * missed, bounds), step: "gap" };
  };
}
