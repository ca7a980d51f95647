/** A measured time, and by how much it may be off: one standard error. */
export interface Measured {
  readonly valueMs: number;
  readonly errorMs: number;
}

/** The quarter of round trips that were fastest ends here. */
const QUANTILE = 0.25;

/** Below this many the spread of the values says nothing of the error. */
const COUNT_MIN = 8;

/** Clocks and schedulers are no better than this part of what they measure. */
const ERROR_MIN = 0.01;

/**
 * The low quantile of some round trips, of which there must be one. Waiting in a queue shifts all
 * of them, and the low end of a wide distribution is measured far better than its mean.
 */
export function lowQuantileOf(rttsMs: readonly number[]): Measured {
  const sorted = rttsMs.toSorted((a, b) => a - b);
  const { length } = sorted;
  const at = (part: number): number =>
    sorted[Math.min(length - 1, Math.max(0, Math.floor(part * length)))] as number;
  // How far off the rank may be, read from the values that stand there.
  const rankError = Math.sqrt((QUANTILE * (1 - QUANTILE)) / length);
  const spreadMs = (at(QUANTILE + rankError) - at(QUANTILE - rankError)) / 2;
  return measured(at(QUANTILE), spreadMs, length);
}

/** The mean of some round trips, of which there must be one. */
export function meanOf(rttsMs: readonly number[]): Measured {
  let sumMs = 0;
  for (const rttMs of rttsMs) sumMs += rttMs;
  const valueMs = sumMs / rttsMs.length;
  let squares = 0;
  for (const rttMs of rttsMs) squares += (rttMs - valueMs) ** 2;
  return measured(valueMs, Math.sqrt(squares) / rttsMs.length, rttsMs.length);
}

/** By how much `a` is more than `b`. */
export function differenceOf(a: Measured, b: Measured): Measured {
  return { valueMs: a.valueMs - b.valueMs, errorMs: Math.hypot(a.errorMs, b.errorMs) };
}

function measured(valueMs: number, spreadMs: number, count: number): Measured {
  if (count < COUNT_MIN) return { valueMs, errorMs: valueMs / Math.sqrt(count) };
  return { valueMs, errorMs: Math.max(spreadMs, ERROR_MIN * valueMs) };
}
