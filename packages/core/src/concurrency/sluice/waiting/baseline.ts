import { MEAN_SURE, ROUND_TRIP_MIN_MS, SURE } from "../constants.ts";
import { differenceOf, lowQuantileOf, meanOf } from "./measured.ts";
import type { Measured } from "./measured.ts";

/** Round trips measured without a queue of ours, and when. */
export interface Baseline {
  readonly rttsMs: readonly number[];
  readonly low: Measured;
  readonly mean: Measured;
  readonly measuredAtMs: number;
}

/** A baseline of at least one round trip. */
export function baselineOf(rttsMs: readonly number[], nowMs: number): Baseline {
  return { rttsMs, low: lowOf(rttsMs), mean: counted(meanOf(rttsMs)), measuredAtMs: nowMs };
}

/** Adds round trips that ended later; of all, the last `countMax` stay. */
export function extended(
  baseline: Baseline | undefined,
  rttsMs: readonly number[],
  countMax: number,
  nowMs: number,
): Baseline {
  return baselineOf([...(baseline?.rttsMs ?? []), ...rttsMs].slice(-countMax), nowMs);
}

/** Whether the low quantile of the given round trips is surely above `factor × baseline`. */
export function isExceeded({ low }: Baseline, rttsMs: readonly number[], factor: number): boolean {
  const given = lowOf(rttsMs);
  const errorMs = Math.hypot(given.errorMs, factor * low.errorMs);
  return given.valueMs - SURE * errorMs > factor * low.valueMs;
}

/**
 * `rtt − baselineRtt`, by the low quantile. A service that takes the same time for every attempt makes
 * only some of them wait, which the low quantile does not show; there the mean is used.
 */
export function shiftFrom(baseline: Baseline, rttsMs: readonly number[]): Measured {
  const low = differenceOf(lowOf(rttsMs), baseline.low);
  const mean = differenceOf(counted(meanOf(rttsMs)), baseline.mean);
  const isMeanSure = mean.valueMs - MEAN_SURE * mean.errorMs > Math.max(0, low.valueMs);
  return isMeanSure ? mean : low;
}

function lowOf(rttsMs: readonly number[]): Measured {
  return counted(lowQuantileOf(rttsMs));
}

/** The time as it is compared: at least `ROUND_TRIP_MIN_MS`. */
function counted({ valueMs, errorMs }: Measured): Measured {
  return { valueMs: Math.max(valueMs, ROUND_TRIP_MIN_MS), errorMs };
}
