/**
 * The ceiling in parts. The ledger counts shares in parts of the ceiling instead of tokens, so that a
 * share follows the ramp without a sync. 10^9 parts keep the rounding of a share in the largest pool
 * (1,000 members) below 0.0001 %.
 */
export const PARTS = 1_000_000_000;

/**
 * Members in the largest pool that a store accepts. 1,000 members that sync every 500 ms cost Redis
 * about 9 % of a core (`npm run bench -- fleet`); a further member is refused.
 */
export const POOL_MEMBERS_MAX = 1000;

/** The share of each of `members` members if all want it, in parts. */
export function equalShare(members: number): number {
  return Math.floor(PARTS / Math.max(1, members));
}
