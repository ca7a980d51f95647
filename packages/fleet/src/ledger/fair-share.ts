import { equalShare } from "./parts.ts";

/** What one member leaves to the others of its equal share, and what it wants beyond it; in parts. */
export interface Demand {
  readonly lent: number;
  readonly extra: number;
}

export function demandOf(wanted: number, members: number): Demand {
  const equal = equalShare(members);
  const own = Math.min(equal, wanted);
  return { lent: equal - own, extra: wanted - own };
}

/**
 * A member's fair share, in parts:
 *
 *     fair = min(equal, wanted) + extra × min(1, Σ lent ÷ Σ extra) + lent × max(0, 1 − Σ extra ÷ Σ lent)
 *
 * What idle members lend goes to those that want more, in proportion to what they want beyond their
 * equal share. What no member wants stays with the members that lend it, so that a burst after an
 * idle time finds a share. All fair shares together are the ceiling. The sums are over the last sync
 * of every member, so that no pass over the members is needed.
 */
export function fairShare(wanted: number, members: number, total: Demand): number {
  const { lent, extra } = demandOf(wanted, members);
  const own = Math.min(equalShare(members), wanted);
  if (total.lent < total.extra) return own + Math.floor((extra * total.lent) / total.extra);
  const kept = total.lent > 0 ? Math.floor(lent * (1 - total.extra / total.lent)) : 0;
  return own + extra + kept;
}
