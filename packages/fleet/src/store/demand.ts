import { PARTS } from "./pool-store.ts";

/** What one member lends, may use and asks for; all in parts of the ceiling. */
export interface Claim {
  /** Its equal share; 0 while it has no lease, and then it is given nothing. */
  readonly entitled: number;
  /** The most that it may be using: what it says it holds, or was told since. */
  readonly promised: number;
  readonly wanted: number;
}

/**
 * What each would have if all others had already followed. Everybody first gets what it wants up to
 * its equal share. What that leaves goes evenly to those who want more, and nobody gets more than it
 * wants. Their sum is at most that of the equal shares; less than one part per member is left over
 * while anybody wants more. The order of the claims does not matter.
 */
export function fairParts(claims: readonly Claim[]): number[] {
  const own = claims.map(({ entitled, wanted }) => Math.min(entitled, wanted));
  const more = claims.map(({ entitled, wanted }) => (entitled === 0 ? 0 : wanted)).map(minus(own));
  const rest = entitledOf(claims) - sum(own);
  const most = mostForEach(rest, more);
  return own.map((parts, index) => parts + Math.min(more[index] ?? 0, most));
}

/**
 * The parts to tell one member, who holds what it was promised. It shrinks to what is fair at once. It
 * grows only into what nobody may still be using: what others were told to give up counts as theirs
 * until they have said that they did.
 */
export function partsFor(claims: readonly Claim[], index: number): number {
  const held = claims[index]?.promised ?? 0;
  const fair = fairParts(claims)[index] ?? 0;
  if (fair <= held) return fair;
  const promised = sum(claims.map((claim) => claim.promised));
  const free = Math.max(0, Math.min(PARTS, entitledOf(claims)) - promised);
  return Math.min(fair, held + free);
}

/** The largest amount such that each, given at most so much and at most what it asks, fits in `rest`. */
function mostForEach(rest: number, asked: readonly number[]): number {
  let left = rest;
  const rising = asked.toSorted((a, b) => a - b);
  for (const [index, amount] of rising.entries()) {
    const even = Math.floor(left / (rising.length - index));
    if (amount > even) return even;
    left -= amount;
  }
  return rising.at(-1) ?? 0;
}

function entitledOf(claims: readonly Claim[]): number {
  return sum(claims.map(({ entitled }) => entitled));
}

function minus(own: readonly number[]): (wanted: number, index: number) => number {
  return (wanted, index) => Math.max(0, wanted - (own[index] ?? 0));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
