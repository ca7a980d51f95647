import { ConfigError } from "@sluice/core";

/** How often members meet at the store, and how long they believe what they heard there. */
export interface Timing {
  /** From one sync to the next. */
  readonly syncIntervalMs: number;
  /** A share is held for so long after the sync was sent that confirmed it. */
  readonly leaseMs: number;
  /** Who has not synced for so long is gone. Longer than the lease: nobody goes who may still grant. */
  readonly staleMs: number;
  /** A sync that takes longer has failed. */
  readonly timeoutMs: number;
}

export const DEFAULT_TIMING: Timing = {
  syncIntervalMs: 500,
  leaseMs: 5000,
  staleMs: 6500,
  timeoutMs: 250,
};

/** Clocks of two machines may run apart by a quarter before a lease outlives its stale age. */
const STALE_PER_LEASE = 1.25;
/** Syncs that fit into a lease: so many may fail before it ends. */
const SYNCS_PER_LEASE = 4;
/** A day. */
const TIME_MAX_MS = 86_400_000;

/** Refuses times that contradict each other. */
export function checkTiming(timing: Timing): Timing {
  const { syncIntervalMs, leaseMs, staleMs, timeoutMs } = timing;
  // By name, so that one that is missing is refused too.
  const all = { syncIntervalMs, leaseMs, staleMs, timeoutMs };
  for (const [name, value] of Object.entries(all)) {
    if (Number.isInteger(value) && value >= 1 && value <= TIME_MAX_MS) continue;
    throw new ConfigError(`${name} is ${String(value)}; it must be whole milliseconds up to a day`);
  }
  if (leaseMs < SYNCS_PER_LEASE * (syncIntervalMs + timeoutMs))
    throw new ConfigError(
      `leaseMs is ${leaseMs}; it must be at least ${SYNCS_PER_LEASE} × (syncIntervalMs + timeoutMs), ${SYNCS_PER_LEASE * (syncIntervalMs + timeoutMs)}`,
    );
  if (staleMs < STALE_PER_LEASE * leaseMs)
    throw new ConfigError(
      `staleMs is ${staleMs}; it must be at least ${STALE_PER_LEASE} × leaseMs, ${STALE_PER_LEASE * leaseMs}`,
    );
  return timing;
}
