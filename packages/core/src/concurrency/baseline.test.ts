import fc from "fast-check";
import { expect, test } from "vitest";
import { SeededRandom } from "../random.ts";
import { Baseline } from "./baseline.ts";

/** Round trips of at least `leastMs`, with a long tail. */
function drawn(random: SeededRandom, count: number, leastMs: number): number[] {
  return Array.from({ length: count }, () => leastMs - 20 * Math.log(1 - random.next()));
}

test("says nothing until something was measured", () => {
  const baseline = new Baseline();
  expect(baseline.count).toBe(0);
  expect(baseline.shiftOf([100])).toBeUndefined();
  baseline.absorb([100]);
  expect(baseline.shiftOf([100])).toMatchObject({ valueMs: 0 });
});

test("sees by how much all have become longer, within what it says it may be off", () => {
  const shiftMs = fc.integer({ min: -40, max: 200 });
  fc.assert(
    fc.property(fc.integer(), shiftMs, (seed, byMs) => {
      const random = new SeededRandom(seed);
      const baseline = new Baseline();
      baseline.absorb(drawn(random, 128, 100));
      const shift = baseline.shiftOf(drawn(random, 128, 100 + byMs));
      const offMs = Math.abs((shift?.valueMs ?? Infinity) - byMs);
      expect(offMs).toBeLessThan(5 * (shift?.errorMs ?? 0));
      expect(shift?.errorMs).toBeLessThan(8);
    }),
  );
});

test("where all take the same time, sees that some of them wait", () => {
  const baseline = new Baseline();
  baseline.absorb(Array<number>(64).fill(100));
  const half = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? 100 : 150));
  expect(baseline.shiftOf(half)?.valueMs).toBe(25);
});

test("does not take a few slow ones for waiting", () => {
  const baseline = new Baseline();
  const random = new SeededRandom(1);
  baseline.absorb(drawn(random, 128, 100));
  const some = drawn(random, 128, 100);
  const plain = baseline.shiftOf(some);
  const withSlow = baseline.shiftOf([...some.slice(0, 126), 5000, 9000]);
  expect(Math.abs((withSlow?.valueMs ?? Infinity) - (plain?.valueMs ?? 0))).toBeLessThan(1);
});

test("goes by the last 128 that it was given", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 10 }), (sizes) => {
      const [whole, parts] = [new Baseline(), new Baseline()];
      const random = new SeededRandom(1);
      const given = sizes.map((size) => drawn(random, size, 100));
      for (const each of given) parts.absorb(each);
      whole.absorb(given.flat().slice(-128));
      expect(parts.count).toBe(Math.min(128, given.flat().length));
      if (parts.count > 0) expect(parts.shiftOf([110])).toEqual(whole.shiftOf([110]));
    }),
  );
});

test("forgets all before when it is replaced", () => {
  const baseline = new Baseline();
  baseline.absorb(Array<number>(100).fill(900));
  baseline.replace(Array<number>(16).fill(100));
  expect(baseline.count).toBe(16);
  expect(baseline.shiftOf(Array<number>(16).fill(100))?.valueMs).toBe(0);
});
