import { InvariantError } from "@sluice/core";
import type { Random } from "@sluice/core";
import { requireKnownKeys, requireNumber } from "@sluice/core/internal";

export interface BackoffOptions {
  /** Longest delay before the first retry; 100 unless given. */
  readonly baseMs?: number;
  /** Times as long before each further one; 2 unless given. */
  readonly factor?: number;
  /** Longest delay of all; 30 000 unless given. */
  readonly maxMs?: number;
}

const DEFAULTS: Required<BackoffOptions> = { baseMs: 100, factor: 2, maxMs: 30_000 };

const KEYS: ReadonlySet<string> = new Set(Object.keys(DEFAULTS));

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

/** Throws a ConfigError for settings of which no delay could be made. */
export function requireBackoff(options: BackoffOptions): void {
  requireKnownKeys("backoff", options, KEYS);
  const { baseMs, factor, maxMs } = { ...DEFAULTS, ...options };
  requireNumber("baseMs", baseMs, 0, 3_600_000);
  requireNumber("factor", factor, 1, 10);
  requireNumber("maxMs", maxMs, baseMs, 86_400_000);
}
