import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { Point } from "./chart.ts";
import { thinPoints } from "./thinning.ts";

const range = { from: 0, to: 500 };

/** 5,000 points, ten in each unit of x, which is as wide as a column. */
const manyPoints = fc
  .array(fc.option(fc.integer(), { nil: undefined, freq: 4 }), { minLength: 10, maxLength: 30 })
  .map((ys) => Array.from({ length: 5_000 }, (_, i) => ({ x: i / 10, y: ys[i % ys.length] })));

const heights = (points: readonly Point[]): number[] =>
  points.flatMap(({ y }) => (y === undefined ? [] : [y]));

test("few points stay as they are", () => {
  const points = Array.from({ length: 2_000 }, (_, x) => ({ x, y: x % 7 }));
  expect(thinPoints(points, range)).toEqual(points);
});

test("many points become at most two thousand, in the same order", () => {
  fc.assert(
    fc.property(manyPoints, (points) => {
      const kept = thinPoints(points, range);
      expect(heights(kept).length).toBeLessThanOrEqual(2_000);
      const indexes = kept.map((point) => points.indexOf(point));
      expect(indexes).toEqual(indexes.toSorted((a, b) => a - b));
    }),
    { numRuns: 10 },
  );
});

test("no column loses its lowest or its highest point", () => {
  fc.assert(
    fc.property(manyPoints, fc.integer({ min: 0, max: 499 }), (points, column) => {
      const within = ({ x }: Point): boolean => Math.floor(x) === column;
      const all = heights(points.filter(within));
      const kept = heights(thinPoints(points, range).filter(within));
      expect(Math.min(...kept)).toBe(Math.min(...all));
      expect(Math.max(...kept)).toBe(Math.max(...all));
    }),
  );
});

test("a gap that the samples leave behind is still there", () => {
  const points = Array.from({ length: 5_000 }, (_, i) => ({
    x: i < 2_500 ? i / 10 : i / 10 + 100,
    y: i === 2_499 ? undefined : 1,
  }));
  expect(thinPoints(points, { from: 0, to: 600 })).toContainEqual({ x: 249.9, y: undefined });
});

test("what lies beyond the axis takes next to nothing", () => {
  const points = Array.from({ length: 100_000 }, (_, x) => ({ x, y: x % 3 }));
  expect(thinPoints(points, range).filter(({ x }) => x >= 500).length).toBeLessThanOrEqual(4);
});
