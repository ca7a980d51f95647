import fc from "fast-check";
import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";

test("a value counts in the first bucket whose bound it does not exceed, and beyond all in the last", () => {
  const histogram = new Histogram([1, 2, 4]);
  for (const value of [0, 1, 1.5, 2, 4, 4.1, Infinity]) histogram.record(value);
  expect(histogram.counts).toEqual([2, 2, 1, 2]);
  expect(histogram.count).toBe(7);
});

test("a value that is no number is not counted", () => {
  const histogram = new Histogram([1]);
  histogram.record(Number.NaN);
  expect(histogram).toMatchObject({ counts: [0, 0], count: 0, sum: 0 });
});

test("every value is in exactly one bucket, and buckets add up to the count", () => {
  const bounds = fc.uniqueArray(fc.integer({ min: -100, max: 100 }), { maxLength: 12 });
  const values = fc.array(fc.double({ min: -200, max: 200, noNaN: true }), { maxLength: 50 });
  fc.assert(
    fc.property(bounds, values, (some, all) => {
      const sorted = some.toSorted((a, b) => a - b);
      const histogram = new Histogram(sorted);
      for (const value of all) histogram.record(value);
      const within = (bound: number): number => all.filter((value) => value <= bound).length;
      let cumulative = 0;
      for (const [index, bound] of sorted.entries()) {
        cumulative += histogram.counts[index] ?? Number.NaN;
        expect(cumulative).toBe(within(bound));
      }
      expect(cumulative + (histogram.counts.at(-1) ?? Number.NaN)).toBe(all.length);
      expect(histogram.count).toBe(all.length);
    }),
  );
});
