import fc from "fast-check";
import { expect, test } from "vitest";
import { SeededRandom } from "./random.ts";

function firstOf(seed: number, count: number): number[] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, () => random.next());
}

test.each([
  [0, "64625032 d9c0799c af362e10 7fa88912"],
  [1, "5e2d1772 14e498f0 d20ea1fd b382f339"],
  [-1, "eb721c8a ffe8bd34 4da2a8ce a4a5cc85"],
])("seed %d gives the same numbers on every machine", (seed, golden) => {
  const hex = firstOf(seed, 4).map((value) => (value * 2 ** 32).toString(16).padStart(8, "0"));
  expect(hex.join(" ")).toBe(golden);
});

test("seeds up to 2^53 that differ in any bit give different numbers", () => {
  const seeds = Array.from({ length: 53 }, (_, bit) => 2 ** bit);
  const all = [0, ...seeds, -(2 ** 53), 2 ** 53 - 1].map((seed) => firstOf(seed, 4).join());
  expect(new Set(all).size).toBe(all.length);
});

test("numbers of any seed lie in [0, 1) and fall evenly", () => {
  const buckets = 16;
  const draws = 16_000;
  fc.assert(
    fc.property(fc.maxSafeInteger(), (seed) => {
      const counts = Array.from({ length: buckets }, () => 0);
      const values = firstOf(seed, draws);
      expect(values.every((value) => value >= 0 && value < 1)).toBe(true);
      for (const value of values) {
        const at = Math.floor(value * buckets);
        counts[at] = (counts[at] ?? 0) + 1;
      }
      // Expected 1000 each with a deviation of about 31: six deviations never happen by chance.
      expect(Math.max(...counts)).toBeLessThan(1190);
      expect(Math.min(...counts)).toBeGreaterThan(810);
    }),
    { numRuns: 20 },
  );
});
