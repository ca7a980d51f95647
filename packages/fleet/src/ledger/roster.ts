import type { LedgerState } from "./ledger.ts";
import { ledgerTimes } from "./timing.ts";
import type { Timing } from "./timing.ts";

/** What the store knows of one member. Amounts in parts of the ceiling, see `PARTS`. */
export interface RosterMember {
  readonly id: string;
  /** Tells this process from any other with the same id. */
  readonly nonce: string;
  /** The most that the member may be using. */
  readonly promised: number;
  /** What it was told last; less than `promised` while it is asked back. */
  readonly told: number;
  /** Since its last sync. */
  readonly syncAgeMs: number;
  /** How long it may hold what it is promised, at most: its lease counts from the send of a sync, by its own clock. */
  readonly leaseLeftMs: number;
  /** Whether it has had its fair share; before that it joins. */
  readonly hasArrived: boolean;
  readonly hasLeft: boolean;
}

/** A pool as the store remembers it, to be looked at: nothing is changed by asking. */
export interface PoolRoster {
  /** In the order of their ids; those that have left lately too. */
  readonly members: readonly RosterMember[];
  /** Members beyond `ROSTER_MAX`. */
  readonly leftOut: number;
  /** How long no share grows, because the store has lost memory; 0 otherwise. */
  readonly learningMs: number;
  readonly timing: Timing;
}

/** Members of one answer: about 20 kB. */
export const ROSTER_MAX = 200;

/** A pool at an instant of the store's clock. */
export function rosterOf(state: LedgerState, wallMs: number): PoolRoster {
  const { timing } = state;
  // As the next step would advance it.
  const passedMs = Math.min(Math.max(wallMs - state.wallMs, 0), ledgerTimes(timing).gapMs);
  const nowMs = state.nowMs + passedMs;
  const members = [...state.entries]
    .map(([id, entry]): RosterMember => ({
      id,
      nonce: entry.nonce,
      promised: entry.promised,
      told: entry.told,
      syncAgeMs: nowMs - entry.seenAtMs,
      leaseLeftMs:
        entry.promised === 0
          ? 0
          : Math.max(0, Math.max(entry.toldAtMs, entry.promisedAtMs) + timing.leaseMs - nowMs),
      hasArrived: entry.hasArrived,
      hasLeft: entry.sequence === Number.POSITIVE_INFINITY,
    }))
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    members: members.slice(0, ROSTER_MAX),
    leftOut: Math.max(0, members.length - ROSTER_MAX),
    learningMs: Math.max(0, state.learningUntilMs - nowMs),
    timing,
  };
}
