import { ConfigError } from "@sluice/core";
import { requireDuration, requireWhole } from "@sluice/core/internal";

export interface SharedBucketOptions {
  /** Tokens per period, whole. For half a token a second write `rate: 1, periodMs: 2000`. */
  readonly rate: number;
  /** 1000 unless given; nanoseconds are its smallest part. */
  readonly periodMs?: number;
  /** Most tokens the bucket gathers, and those it starts with; the rate unless given; ≤ 2^52. */
  readonly capacity?: number;
  /**
   * Tokens are added at most this often; 16 unless given, 0 keeps the balance always current. A
   * bucket that fills in less than four of them, or is nearly full, is looked at more often.
   */
  readonly resolutionMs?: number;
  /** Most threads attached at once, the creating one included; 64 unless given. */
  readonly maxThreads?: number;
}

/** What every thread must know of the bucket; made of plain numbers, so that it can be cloned. */
export interface SharedBucketSettings {
  readonly rate: number;
  readonly periodNanos: number;
  readonly capacity: number;
  readonly resolutionNanos: number;
  readonly maxThreads: number;
  readonly startNanos: number;
}

const NANOS_PER_MS = 1_000_000;
const THREADS_MAX = 1024;
/** Half of what doubles count exactly: the other half is room for sums. */
const CAPACITY_MAX = 2 ** 52;

/** Throws a ConfigError for what cannot be meant. */
export function settingsOf(options: SharedBucketOptions, nowMs: number): SharedBucketSettings {
  const { rate, periodMs = 1000, capacity = rate, resolutionMs = 16, maxThreads = 64 } = options;
  requireWhole("rate", rate, 1);
  requireDuration("periodMs", periodMs, 1 / NANOS_PER_MS);
  requireWhole("capacity", capacity, 1, CAPACITY_MAX);
  requireDuration("resolutionMs", resolutionMs);
  requireWhole("maxThreads", maxThreads, 1, THREADS_MAX);
  if (!Number.isFinite(nowMs)) throw new ConfigError(`the clock says ${nowMs}, which is no time`);
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
