/** Monotonic milliseconds, possibly fractional. Two readings compare only if one clock gave both. */
export interface Clock {
  now(): number;
}

/** A clock that can also wake its caller. Only what waits takes a timer; algorithms take a clock. */
export interface Timer extends Clock {
  /**
   * Resolves once `ms` have passed, never earlier. Rejects with the signal's reason when it is
   * aborted before or during the sleep, and then leaves nothing behind.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const NANOS_PER_MS = 1_000_000;

export const SECOND_MS = 1000;

/** 31 years in milliseconds, the longest duration that an option accepts. */
export const DURATION_MAX_MS = 1e12;

/**
 * The whole nanosecond nearest to an instant. Rounding instants, not differences, keeps the sum of
 * many short durations equal to the long one. Past 2^53 ns (104 days) the grid is 2 ns, then 4 ns.
 */
export function toNanos(ms: number): number {
  return Math.round(ms * NANOS_PER_MS);
}
