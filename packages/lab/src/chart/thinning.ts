import type { Point } from "./chart.ts";
import type { Range } from "./scale.ts";

const POINTS_MAX = 2_000;

/** Columns of the plot. Four points of each are kept; a column is about as wide as a line. */
const COLUMNS = POINTS_MAX / 4;

/**
 * The points that make a visible difference: in each column of the plot the first, the lowest, the
 * highest and the last one, and gaps at its ends. `points` must be in order of x.
 */
export function thinPoints(points: readonly Point[], range: Range): readonly Point[] {
  if (points.length <= POINTS_MAX) return points;
  const perValue = COLUMNS / (range.to - range.from);
  // Points beyond the axis form one more column, so that lines leave the plot at the right place.
  const columnOf = (point: Point): number =>
    Math.min(COLUMNS, Math.floor((point.x - range.from) * perValue));

  const kept: Point[] = [];
  let start = 0;
  for (let end = 1; end <= points.length; end++) {
    const [first, next] = [points[start], points[end]];
    if (first !== undefined && next !== undefined && columnOf(first) === columnOf(next)) continue;
    for (const index of seenIndexes(points, start, end)) {
      const point = points[index];
      if (point !== undefined) kept.push(point);
    }
    start = end;
  }
  return kept;
}

function seenIndexes(points: readonly Point[], start: number, end: number): Iterable<number> {
  let first: number | undefined;
  let last = start;
  let [lowest, low] = [start, Infinity];
  let [highest, high] = [start, -Infinity];
  for (let index = start; index < end; index++) {
    const y = points[index]?.y;
    if (y === undefined) continue;
    first ??= index;
    last = index;
    if (y < low) [lowest, low] = [index, y];
    if (y > high) [highest, high] = [index, y];
  }
  if (first === undefined) return [start];
  const seen = [start, first, lowest, highest, last, end - 1];
  return new Set(seen.toSorted((a, b) => a - b));
}
