import { fairShare } from "./fair-share.ts";
import type { Demand } from "./fair-share.ts";
import type { LedgerState } from "./ledger.ts";
import { equalShare, PARTS } from "./parts.ts";
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
  /** What it would use if it could, as of its last sync; its equal share while that is not known. 0 after it has left. */
  readonly wanted: number;
  /** What it would be told if every hand-over were complete; 0 after it has left. */
  readonly fair: number;
  /** Since its last sync. */
  readonly syncAgeMs: number;
  /** Since it joined what the store remembers of the pool; a store that lost its data counts from its own start. */
  readonly joinedAgoMs: number;
  /** How long it may hold what it is promised, at most: its lease counts from the send of a sync, by its own clock. */
  readonly leaseLeftMs: number;
  /** Whether it has had its fair share; before that it joins. */
  readonly hasArrived: boolean;
  readonly hasLeft: boolean;
  /** Used ÷ usable tokens, 0 to 1, of the second before its last sync; undefined if it did not say. */
  readonly used?: number | undefined;
  /** Where its process runs, such as "shop-1:4121"; undefined if it did not say. */
  readonly where?: string | undefined;
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

/** Members of one answer: about 30 kB. */
export const ROSTER_MAX = 200;

/** Members that have not left, and the sums of what they lend and want beyond their equal share. */
export interface PoolDemand extends Demand {
  readonly members: number;
}

/** What a member wants, and its fair share, from what it lends or wants beyond its equal share at its last sync. */
export function wantedAndFair(
  { lent, extra }: Demand,
  pool: PoolDemand,
): Pick<RosterMember, "wanted" | "fair"> {
  const wanted = Math.min(PARTS, Math.max(0, equalShare(pool.members) - lent + extra));
  return { wanted, fair: fairShare(wanted, pool.members, pool) };
}

/** A pool at an instant of the store's clock. `saysOf` reads what a member says of itself. */
export function rosterOf(
  state: LedgerState,
  wallMs: number,
  saysOf: (about: string) => Pick<RosterMember, "used" | "where">,
): PoolRoster {
  const { timing } = state;
  // As the next step would advance it.
  const passedMs = Math.min(Math.max(wallMs - state.wallMs, 0), ledgerTimes(timing).gapMs);
  const nowMs = state.nowMs + passedMs;
  const members = [...state.entries]
    .map(([id, entry]): RosterMember => {
      const hasLeft = entry.sequence === Number.POSITIVE_INFINITY;
      return {
        id,
        nonce: entry.nonce,
        promised: entry.promised,
        told: entry.told,
        ...(hasLeft ? { wanted: 0, fair: 0 } : wantedAndFair(entry, state)),
        syncAgeMs: nowMs - entry.seenAtMs,
        joinedAgoMs: nowMs - entry.joinedAtMs,
        leaseLeftMs:
          entry.promised === 0
            ? 0
            : Math.max(0, Math.max(entry.toldAtMs, entry.promisedAtMs) + timing.leaseMs - nowMs),
        hasArrived: entry.hasArrived,
        hasLeft,
        ...saysOf(entry.about),
      };
    })
    .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return {
    members: members.slice(0, ROSTER_MAX),
    leftOut: Math.max(0, members.length - ROSTER_MAX),
    learningMs: Math.max(0, state.learningUntilMs - nowMs),
    timing,
  };
}
