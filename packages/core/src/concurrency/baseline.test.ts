import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../random.ts";
import { Baseline } from "./baseline.ts";

const MOST = 128;

/** Round trips of at least `leastMs`, with a long tail. */
function drawn(random: SeededRandom, count: number, leastMs: number): number[] {
  return Array.from({ length: count }, () => leastMs - 20 * Math.log(1 - random.next()));
}

/** Round trips of 100 ms at least that are the baseline, and others so many times as long. */
function setUpLonger(seed: number, count: number, longer: number) {
  const random = new SeededRandom(seed);
  const baseline = new Baseline();
  baseline.absorb(drawn(random, count, 100), count);
  const others = drawn(random, count, 100).map((rttMs) => longer * rttMs);
  return { baseline, others };
}

test("says nothing until something was measured", () => {
  const baseline = new Baseline();
  expect(baseline.count).toBe(0);
  expect(baseline.shiftOf([100])).toBeUndefined();
  baseline.absorb([100], MOST);
  expect(baseline.shiftOf([100])).toMatchObject({ valueMs: 0 });
});

test("sees by how much all have become longer, within what it says it may be off", () => {
  const shiftMs = fc.integer({ min: -40, max: 200 });
  fc.assert(
    fc.property(fc.integer(), shiftMs, (seed, byMs) => {
      const random = new SeededRandom(seed);
      const baseline = new Baseline();
      baseline.absorb(drawn(random, 128, 100), MOST);
      const shift = baseline.shiftOf(drawn(random, 128, 100 + byMs));
      const offMs = Math.abs((shift?.valueMs ?? Infinity) - byMs);
      expect(offMs).toBeLessThan(5 * (shift?.errorMs ?? 0));
      expect(shift?.errorMs).toBeLessThan(8);
    }),
  );
});

test("where all take the same time, sees that some of them wait", () => {
  const baseline = new Baseline();
  baseline.absorb(Array<number>(64).fill(100), MOST);
  const half = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? 100 : 150));
  expect(baseline.shiftOf(half)?.valueMs).toBe(25);
});

test("does not take a few slow ones for waiting", () => {
  const baseline = new Baseline();
  const random = new SeededRandom(1);
  baseline.absorb(drawn(random, 128, 100), MOST);
  const some = drawn(random, 128, 100);
  const plain = baseline.shiftOf(some);
  const withSlow = baseline.shiftOf([...some.slice(0, 126), 5000, 9000]);
  expect(Math.abs((withSlow?.valueMs ?? Infinity) - (plain?.valueMs ?? 0))).toBeLessThan(1);
});

test("goes by the last of those that it was given, as many as may stay", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { maxLength: 10 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 512 }), (counts, countMax) => {
      const [whole, parts] = [new Baseline(), new Baseline()];
      const random = new SeededRandom(1);
      const given = counts.map((count) => drawn(random, count, 100));
      for (const each of given) parts.absorb(each, countMax);
      if (given.length > 0) whole.replace(given.flat().slice(-countMax));
      expect(parts.count).toBe(Math.min(countMax, given.flat().length));
      expect(parts.shiftOf([110])).toEqual(whole.shiftOf([110]));
    }),
  );
});

test("keeps fewer from the next time on when fewer may stay", () => {
  const baseline = new Baseline();
  baseline.absorb(Array<number>(300).fill(900), 300);
  baseline.absorb(Array<number>(20).fill(100), 20);
  expect([baseline.count, baseline.shiftOf([100])?.valueMs]).toEqual([20, 0]);
});

describe("is exceeded", () => {
  const counts = fc.integer({ min: 16, max: 300 });
  const shifts = fc.double({ min: 0.3, max: 4, noNaN: true });

  test("by nothing until something was measured", () => {
    expect(new Baseline().isExceededBy([1_000_000], 1.5)).toBe(false);
  });

  test("only by what is longer than that, whatever chance makes of it", () => {
    fc.assert(
      fc.property(fc.integer(), counts, shifts, (seed, count, longer) => {
        const { baseline, others } = setUpLonger(seed, count, longer);
        if (longer < 1.35) expect(baseline.isExceededBy(others, 1.5)).toBe(false);
        if (longer > 1.8) expect(baseline.isExceededBy(others, 1.5)).toBe(true);
      }),
    );
  });

  test("not by a few that say so, which are in doubt", () => {
    const baseline = new Baseline();
    baseline.absorb(Array<number>(128).fill(100), MOST);
    expect(baseline.isExceededBy([300, 300, 300], 1.5)).toBe(false);
    expect(baseline.isExceededBy(Array<number>(16).fill(300), 1.5)).toBe(true);
  });

  test("nor by slow ones among as many fast ones: those fast are what counts", () => {
    const baseline = new Baseline();
    baseline.absorb(Array<number>(128).fill(100), MOST);
    const half = Array.from({ length: 128 }, (_, index) => (index % 2 === 0 ? 100 : 900));
    expect(baseline.isExceededBy(half, 1.5)).toBe(false);
  });
});

test("forgets all before when it is replaced", () => {
  const baseline = new Baseline();
  baseline.absorb(Array<number>(100).fill(900), MOST);
  baseline.replace(Array<number>(16).fill(100));
  expect(baseline.count).toBe(16);
  expect(baseline.shiftOf(Array<number>(16).fill(100))?.valueMs).toBe(0);
});
