import type { Point, Series } from "@sluice/lab/browser";

/** The edges of a part that lies on other parts: the same x, each value lasts until the next. */
export interface Band {
  readonly lower: readonly Point[];
  readonly upper: readonly Point[];
}

/** The upper edge where the band has a height: a part that is nothing must not paint the edge of another. */
export function edgeOf({ lower, upper }: Band): Point[] {
  return upper.map(({ x, y }, i) => ({ x, y: y === lower[i]?.y ? undefined : y }));
}

/** Parts of a whole, each on top of those before it. Gaps are nothing. */
export function bandsOf(parts: readonly Series[]): Band[] {
  const sums = new Map<number, number>();
  return parts.map(({ points }) => {
    const lower = points.map(({ x }) => ({ x, y: sums.get(x) ?? 0 }));
    const upper = points.map(({ x, y = 0 }, i) => ({
      x,
      y: (lower[i]?.y ?? 0) + (Number.isFinite(y) ? y : 0),
    }));
    for (const { x, y } of upper) sums.set(x, y);
    return { lower, upper };
  });
}
