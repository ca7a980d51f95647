import { ConfigError } from "@sluice/core";

/** How often members sync with the store, and how long a promise of the store lasts. */
export interface Timing {
  /** From the send of one sync to the send of the next. Default: 500. */
  readonly syncIntervalMs: number;
  /** A member may use its share for this long after it sent the sync that renewed it. Default: 5000. */
  readonly leaseMs: number;
  /** The store keeps a share reserved for this long after it last renewed it. Default: 6500. */
  readonly staleMs: number;
  /** A reply that takes longer is reported as late. It still counts until the next sync is sent. Default: 250. */
  readonly timeoutMs: number;
}

export const DEFAULT_TIMING: Timing = {
  syncIntervalMs: 500,
  leaseMs: 5000,
  staleMs: 6500,
  timeoutMs: 250,
};

/** Clocks of two machines may differ in speed by 5 % before a lease outlives the store's promise. */
const DRIFT_FACTOR = 1.05;
/** A hand-over takes three syncs; two more may fail before the lease ends. */
const GAPS_PER_LEASE = 5;
/** One day. */
const TIME_MAX_MS = 86_400_000;

/** The default timing with another lease: all times in the same proportion. */
export function timingOf(leaseMs: number): Timing {
  const scaled = (ms: number): number => Math.ceil((ms * leaseMs) / DEFAULT_TIMING.leaseMs);
  return {
    syncIntervalMs: scaled(DEFAULT_TIMING.syncIntervalMs),
    leaseMs,
    staleMs: scaled(DEFAULT_TIMING.staleMs),
    timeoutMs: scaled(DEFAULT_TIMING.timeoutMs),
  };
}

/** What follows from a timing, for the store. Lua computes the same in `ledger.lua`. */
export interface LedgerTimes {
  /** The longest time that may pass between two syncs of a healthy member. */
  readonly gapMs: number;
  /** After lost memory no share grows for this long: every lease that still runs is reported meanwhile. */
  readonly learningMs: number;
  /** An entry without a promise is removed after this long without a sync. */
  readonly silentMs: number;
  /** A share that exceeds the fair share for longer than this is asked back whole instead of in steps. */
  readonly overdueMs: number;
}

export function ledgerTimes({ syncIntervalMs, leaseMs, timeoutMs }: Timing): LedgerTimes {
  const gapMs = syncIntervalMs + timeoutMs;
  return {
    gapMs,
    learningMs: longestLeaseMs(leaseMs) + gapMs,
    silentMs: 2 * gapMs,
    overdueMs: Math.min(leaseMs / 2, leaseMs - 3 * gapMs),
  };
}

/** Refuses times that contradict each other. */
export function checkTiming(timing: Timing): Timing {
  const { syncIntervalMs, leaseMs, staleMs, timeoutMs } = timing;
  // By name, so that one that is missing is refused too.
  const all = { syncIntervalMs, leaseMs, staleMs, timeoutMs };
  for (const [name, value] of Object.entries(all)) {
    if (Number.isInteger(value) && value >= 1 && value <= TIME_MAX_MS) continue;
    throw new ConfigError(`${name} is ${String(value)}; it must be whole milliseconds up to a day`);
  }
  const gapMs = syncIntervalMs + timeoutMs;
  if (leaseMs < GAPS_PER_LEASE * gapMs)
    throw new ConfigError(
      `leaseMs is ${leaseMs}; it must be at least ${GAPS_PER_LEASE} × (syncIntervalMs + timeoutMs), ${GAPS_PER_LEASE * gapMs}`,
    );
  const staleMinMs = longestLeaseMs(leaseMs) + gapMs;
  if (staleMs < staleMinMs)
    throw new ConfigError(
      `staleMs is ${staleMs}; it must be at least ${DRIFT_FACTOR} × leaseMs + syncIntervalMs + timeoutMs, ${staleMinMs}`,
    );
  return timing;
}

/** A lease on the slowest clock that is allowed for, by the store's clock. */
function longestLeaseMs(leaseMs: number): number {
  return Math.ceil(DRIFT_FACTOR * leaseMs);
}
