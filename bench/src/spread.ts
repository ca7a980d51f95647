export interface Spread {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor((sorted.length - 1) / 2);
  const upper = Math.floor(sorted.length / 2);
  return {
    median: ((sorted[middle] as number) + (sorted[upper] as number)) / 2,
    min: sorted[0] as number,
    max: sorted.at(-1) as number,
  };
}
