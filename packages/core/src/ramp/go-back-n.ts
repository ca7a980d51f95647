import { moveLevel, STEP } from "./level.ts";
import { reaches } from "./mode.ts";
import type { Move, RampMode } from "./mode.ts";

export interface GoBackNOptions {
  readonly thresholdPercentage: number;
  /** A gap longer than this costs part of a step for every epoch without a call. */
  readonly coolDownMs: number;
  /** That part, in percent. Under-use always costs a whole step. */
  readonly rampDownPercentage: number;
}

const EPOCH_MS = 1000;

/**
 * One step up if the last epoch with a call was used to the threshold, else one step down; then,
 * after a gap, down again for every epoch that was missed.
 */
export function goBackN(options: GoBackNOptions): RampMode {
  return ({ level, bounds, epochsPassed, usage }): Move => {
    const isUsed = reaches(usage, options.thresholdPercentage);
    const stepped = moveLevel(level, isUsed ? STEP : -STEP, bounds);
    const missed = epochsPassed - 1;
    if (missed === 0 || epochsPassed * EPOCH_MS <= options.coolDownMs) {
      return { level: stepped, step: isUsed ? "up" : "down" };
    }
    return { level: moveLevel(stepped, -options.rampDownPercentage * missed, bounds), step: "gap" };
  };
}
