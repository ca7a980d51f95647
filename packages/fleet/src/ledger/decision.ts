import { PARTS } from "./parts.ts";

/**
 * Parts that may lie idle in a hand-over, free or already asked back, before more are asked back. If
 * it is raised, joiners get their share sooner and the sum of shares dips lower: 30 % keeps the sum at
 * 0.7 of the ceiling while a pool of 2 grows to 64 over 30 s, with waits of 2 s (simulated).
 */
const IDLE_MAX = 0.3 * PARTS;

/** What the ledger knows when one member syncs; all amounts in parts. */
export interface Situation {
  /** What the member uses now. */
  readonly held: number;
  readonly fair: number;
  readonly wanted: number;
  /** Free parts: PARTS − Σ promised. Negative while the pool is over-committed. */
  readonly free: number;
  /** Parts that were asked back within the last two syncs and are not yet released. */
  readonly returning: number;
  /** Parts of what is free that are kept for the joiner that waits longest. */
  readonly reserved: number;
  /** The share of `held` was renewed longer ago than `overdueMs`. */
  readonly isOverdue: boolean;
  /** The member's first sync: it may still be a duplicate of a lost reply. */
  readonly isNew: boolean;
  /** `growth`: no share grows. `all`: no share is asked back either; it still is in the last two syncs. */
  readonly learning: "no" | "growth" | "all";
}

/** What a member is told, and why. */
export interface Decision {
  readonly told: number;
  /** Whether the lease on what is told starts anew. What exceeds the fair share is never renewed. */
  readonly isRenewed: boolean;
  readonly reason: "kept" | "asked-back" | "grown" | "no-room" | "learning";
}

/** What to tell a member that holds `held`. */
export function decide(situation: Situation): Decision {
  const { held, fair, free, learning, isNew, reserved } = situation;
  if (held > fair) {
    // An over-committed pool shrinks even while the store learns.
    if (learning === "all" && free >= 0) return { told: held, isRenewed: true, reason: "learning" };
    const told = held - Math.min(held - fair, roomToAsk(situation));
    return { told, isRenewed: told <= fair, reason: "asked-back" };
  }
  if (held === fair) return { told: held, isRenewed: true, reason: "kept" };
  if (learning !== "no") return { told: held, isRenewed: true, reason: "learning" };
  const grown = isNew ? 0 : Math.min(fair - held, Math.max(0, free - reserved));
  return { told: held + grown, isRenewed: true, reason: grown > 0 ? "grown" : "no-room" };
}

/** How many parts may be asked back from this member now. */
function roomToAsk({ held, wanted, free, returning, isOverdue, learning }: Situation): number {
  // What is released now cannot be handed over before learning ends.
  if (learning === "all") return Math.max(0, -free);
  // Parts that the member does not want lie idle while it holds them.
  if (isOverdue || held > wanted) return PARTS;
  const idle = Math.max(0, free) + returning;
  return Math.floor(Math.max(0, IDLE_MAX - idle) + Math.max(0, -free));
}
