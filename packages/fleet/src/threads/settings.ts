import { ConfigError } from "@sluice/core";
import { requireDuration, requireWhole } from "@sluice/core/internal";

export interface SharedBucketOptions {
  /** Tokens per period, whole. For half a token a second write `rate: 1, periodMs: 2000`. */
  readonly rate: number;
  /** Counted in whole nanoseconds. @default 1000 */
  readonly periodMs?: number;
  /** Most tokens that the bucket holds, and its first tokens; at most 2^52. Default: the rate. */
  readonly capacity?: number;
  /**
   * Least time between two additions of tokens; 0 adds them at every call. Raised, tokens come later
   * and calls cost less. A bucket that is nearly full, or fills within four of these, is filled more
   * often. @default 16
   */
  readonly resolutionMs?: number;
  /** Most threads attached at once, the creating thread included; at most 1024. @default 64 */
  readonly maxThreads?: number;
}

/** The settings that every thread needs; plain numbers, so that a message can carry them. */
export interface SharedBucketSettings {
  readonly rate: number;
  readonly periodNanos: number;
  readonly capacity: number;
  readonly resolutionNanos: number;
  readonly maxThreads: number;
  readonly startNanos: number;
}

const NANOS_PER_MS = 1_000_000;
/** Most threads of one bucket; each takes 256 bytes of shared memory. */
const THREADS_MAX = 1024;
/** Half of the numbers that a double counts exactly; the other half is room for sums. */
const CAPACITY_MAX = 2 ** 52;

/** Throws a ConfigError for settings that are out of range. */
export function settingsOf(options: SharedBucketOptions, nowMs: number): SharedBucketSettings {
  const { rate, periodMs = 1000, capacity = rate, resolutionMs = 16, maxThreads = 64 } = options;
  requireWhole("rate", rate, 1);
  requireDuration("periodMs", periodMs, 1 / NANOS_PER_MS);
  requireWhole("capacity", capacity, 1, CAPACITY_MAX);
  requireDuration("resolutionMs", resolutionMs);
  requireWhole("maxThreads", maxThreads, 1, THREADS_MAX);
  if (!Number.isFinite(nowMs))
    throw new ConfigError(`the clock reads ${nowMs}; it must read a number`);
  return {
    rate,
    periodNanos: toNanos(periodMs),
    capacity,
    resolutionNanos: toNanos(resolutionMs),
    maxThreads,
    startNanos: toNanos(nowMs),
  };
}

/** The whole nanosecond nearest to an instant or a duration. */
export function toNanos(ms: number): number {
  return Math.round(ms * NANOS_PER_MS);
}

/** The milliseconds of nanoseconds. */
export function toMs(nanos: bigint): number {
  return Number(nanos) / NANOS_PER_MS;
}
