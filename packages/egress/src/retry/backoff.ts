import { InvariantError, requireNumber } from "@sluice/core";
import type { Random } from "@sluice/core";

export interface BackoffOptions {
  /** Longest delay before the first retry; 100 unless given. */
  readonly baseMs?: number;
  /** Times as long before each further one; 2 unless given. */
  readonly factor?: number;
  /** Longest delay of all; 30 000 unless given. */
  readonly maxMs?: number;
}

const DEFAULTS: Required<BackoffOptions> = { baseMs: 100, factor: 2, maxMs: 30_000 };

/** A word of the peer is stretched by at most this part of it, ... */
const STRETCH = 0.1;
/** ... and by at most this: enough to spread a crowd, and short beside an hour's pause. */
const STRETCH_MAX_MS = 10_000;

/**
 * Delay before a retry; `attempt` 1 is the first one. Drawn evenly from nothing up to a bound that
 * grows from retry to retry, exponentially, so that clients that failed together do not come back
 * together. The draw may be near 0: what keeps retries few is the budget, not the backoff.
 */
export function backoffMs(attempt: number, options: BackoffOptions, random: Random): number {
  if (!(attempt >= 1)) throw new InvariantError("attempts count from 1");
  const { baseMs, factor, maxMs } = { ...DEFAULTS, ...options };
  // A power beyond all doubles would make NaN of a base of 0.
  const growth = Math.min(factor ** (attempt - 1), Number.MAX_VALUE);
  return random.next() * Math.min(baseMs * growth, maxMs);
}

/** The pause that a peer asked for, or up to a tenth (at most 10 s) more. Never less. */
export function atLeastMs(pauseMs: number, random: Random): number {
  return pauseMs + random.next() * Math.min(pauseMs * STRETCH, STRETCH_MAX_MS);
}

/** Throws a ConfigError for settings of which no delay could be made. */
export function requireBackoff(options: BackoffOptions): void {
  const { baseMs, factor, maxMs } = { ...DEFAULTS, ...options };
  requireNumber("baseMs", baseMs, 0, 3_600_000);
  requireNumber("factor", factor, 1, 10);
  requireNumber("maxMs", maxMs, baseMs, 86_400_000);
}
