import { ERROR_MIN, QUANTILE, SPREAD_COUNT_MIN } from "../constants.ts";

/** A measured time and its standard error. */
export interface Measured {
  readonly valueMs: number;
  readonly errorMs: number;
}

/**
 * The low quantile of at least one round trip. Waiting in a queue shifts every round trip, and the low
 * end of a wide distribution is measured far better than its mean.
 */
export function lowQuantileOf(rttsMs: readonly number[]): Measured {
  // Without a function to compare by, sorting takes a third to a sixth of the time.
  const sorted = new Float64Array(rttsMs).toSorted();
  const { length } = sorted;
  const at = (part: number): number =>
    sorted[Math.min(length - 1, Math.max(0, Math.floor(part * length)))] as number;
  // Standard error of a quantile's rank, √(q(1 − q) ÷ n), read from the values around that rank.
  const rankError = Math.sqrt((QUANTILE * (1 - QUANTILE)) / length);
  const spreadMs = (at(QUANTILE + rankError) - at(QUANTILE - rankError)) / 2;
  return measured(at(QUANTILE), spreadMs, length);
}

/** The mean of at least one round trip. */
export function meanOf(rttsMs: readonly number[]): Measured {
  let sumMs = 0;
  for (const rttMs of rttsMs) sumMs += rttMs;
  const valueMs = sumMs / rttsMs.length;
  let squares = 0;
  for (const rttMs of rttsMs) squares += (rttMs - valueMs) ** 2;
  return measured(valueMs, Math.sqrt(squares) / rttsMs.length, rttsMs.length);
}

/** `a − b`; independent errors add up as √(a² + b²). */
export function differenceOf(a: Measured, b: Measured): Measured {
  return { valueMs: a.valueMs - b.valueMs, errorMs: Math.hypot(a.errorMs, b.errorMs) };
}

function measured(valueMs: number, spreadMs: number, count: number): Measured {
  if (count < SPREAD_COUNT_MIN) return { valueMs, errorMs: valueMs / Math.sqrt(count) };
  return { valueMs, errorMs: Math.max(spreadMs, ERROR_MIN * valueMs) };
}
