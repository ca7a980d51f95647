/** What producers get of a limit by even turns. */
export interface FairTurns {
  /** In the order of `asked`. */
  readonly gets: readonly number[];
  /** What each gets that asks for more: Σ min(asked, turn) = limit. Absent if the limit is enough for all. */
  readonly turn?: number | undefined;
}

/**
 * Max-min fairness: nobody gets more than it asks for, and what one leaves is divided among those that ask for more.
 * The desk of the gateway gives turns by deficit round robin, which comes to this.
 */
export function fairTurns(asked: readonly number[], limit: number): FairTurns {
  let rest = limit;
  const smallestFirst = asked.toSorted((a, b) => a - b);
  for (const [index, one] of smallestFirst.entries()) {
    const turn = rest / (smallestFirst.length - index);
    if (one > turn) return { gets: asked.map((each) => Math.min(each, turn)), turn };
    rest -= one;
  }
  return { gets: asked };
}

/** Jain's index: 1 if all are the same, 1 ÷ n if one has all. Absent with fewer than two, or if all are 0. */
export function jain(values: readonly number[]): number | undefined {
  const sum = values.reduce((total, value) => total + value, 0);
  const squares = values.reduce((total, value) => total + value * value, 0);
  if (values.length < 2 || squares === 0) return undefined;
  return (sum * sum) / (values.length * squares);
}
