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
 *     fair = min(equal, wanted) + extra × min(1, Σ lent ÷ Σ extra)
 *
 * What idle members lend goes to those that want more, in proportion to what they want beyond their
 * equal share. If all want everything, the fair share is the equal share. The sums are over the last
 * sync of every member, so that no pass over the members is needed.
 */
export function fairShare(wanted: number, members: number, total: Demand): number {
  const { extra } = demandOf(wanted, members);
  const granted = total.extra > 0 ? extra * Math.min(1, total.lent / total.extra) : 0;
  return Math.min(equalShare(members), wanted) + Math.floor(granted);
}
