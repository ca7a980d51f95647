import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../../random.ts";
import { baselineOf, extended, isExceeded, shiftFrom } from "./baseline.ts";
import type { Baseline } from "./baseline.ts";

/** Round trips of at least `leastMs`, with a long tail. */
function drawn(random: SeededRandom, count: number, leastMs: number): number[] {
  return Array.from({ length: count }, () => leastMs - 20 * Math.log(1 - random.next()));
}

/** A baseline of round trips of at least 100 ms, and others that are `longer` times as long. */
function setUpLonger(seed: number, count: number, longer: number) {
  const random = new SeededRandom(seed);
  const baseline = baselineOf(drawn(random, count, 100), 0);
  const others = drawn(random, count, 100).map((rttMs) => longer * rttMs);
  return { baseline, others };
}

test("the shift is what all round trips have become longer by, within the error that is given", () => {
  const shiftMs = fc.integer({ min: -40, max: 200 });
  fc.assert(
    fc.property(fc.integer(), shiftMs, (seed, byMs) => {
      const random = new SeededRandom(seed);
      const baseline = baselineOf(drawn(random, 128, 100), 0);
      const shift = shiftFrom(baseline, drawn(random, 128, 100 + byMs));
      expect(Math.abs(shift.valueMs - byMs)).toBeLessThan(5 * shift.errorMs);
      expect(shift.errorMs).toBeLessThan(8);
    }),
  );
});

test("where all take the same time, waiting of some is seen", () => {
  const baseline = baselineOf(Array<number>(64).fill(100), 0);
  const half = Array.from({ length: 64 }, (_, index) => (index % 2 === 0 ? 100 : 150));
  expect(shiftFrom(baseline, half).valueMs).toBe(25);
});

test("the mean is used instead of the low quantile only if it is sure by three standard errors", () => {
  const baseline = baselineOf(Array<number>(64).fill(100), 0);
  const shifts = [8, 12].map((length) => {
    const half = Array.from({ length }, (_, index) => (index % 2 === 0 ? 100 : 150));
    return shiftFrom(baseline, half).valueMs;
  });
  expect(shifts).toEqual([0, 25]);
});

test("a few slow round trips do not pass for waiting", () => {
  const random = new SeededRandom(1);
  const baseline = baselineOf(drawn(random, 128, 100), 0);
  const some = drawn(random, 128, 100);
  const plain = shiftFrom(baseline, some);
  const withSlow = shiftFrom(baseline, [...some.slice(0, 126), 5000, 9000]);
  expect(Math.abs(withSlow.valueMs - plain.valueMs)).toBeLessThan(1);
});

test.each([
  { rttMs: 0.2, shiftMs: 0, isSlower: false },
  { rttMs: 1.9, shiftMs: 0, isSlower: false },
  { rttMs: 2.5, shiftMs: 0.5, isSlower: false },
  { rttMs: 3.5, shiftMs: 1.5, isSlower: true },
])("waiting within the first two milliseconds is none: $rttMs ms instead of 0.2", (given) => {
  const baseline = baselineOf(Array<number>(64).fill(0.2), 0);
  const rttsMs = Array<number>(64).fill(given.rttMs);
  expect(shiftFrom(baseline, rttsMs).valueMs).toBe(given.shiftMs);
  expect(isExceeded(baseline, rttsMs, 1.5)).toBe(given.isSlower);
});

test("an extended baseline rests on the last round trips, as many as may stay", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 1, maxLength: 10 });
  fc.assert(
    fc.property(sizes, fc.integer({ min: 1, max: 512 }), (counts, countMax) => {
      const random = new SeededRandom(1);
      const given = counts.map((count) => drawn(random, count, 100));
      let parts: Baseline | undefined;
      for (const [index, each] of given.entries()) parts = extended(parts, each, countMax, index);
      expect(parts).toEqual(baselineOf(given.flat().slice(-countMax), given.length - 1));
    }),
  );
});

describe("a baseline is exceeded", () => {
  const counts = fc.integer({ min: 16, max: 300 });
  const shifts = fc.double({ min: 0.3, max: 4, noNaN: true });

  test("only by what is surely longer than the factor", () => {
    fc.assert(
      fc.property(fc.integer(), counts, shifts, (seed, count, longer) => {
        const { baseline, others } = setUpLonger(seed, count, longer);
        if (longer < 1.35) expect(isExceeded(baseline, others, 1.5)).toBe(false);
        if (longer > 1.8) expect(isExceeded(baseline, others, 1.5)).toBe(true);
      }),
    );
  });

  test("not by a few round trips, which are uncertain", () => {
    const baseline = baselineOf(Array<number>(128).fill(100), 0);
    expect(isExceeded(baseline, [300, 300, 300], 1.5)).toBe(false);
    expect(isExceeded(baseline, Array<number>(16).fill(300), 1.5)).toBe(true);
  });

  test("not by slow round trips among as many fast ones", () => {
    const baseline = baselineOf(Array<number>(128).fill(100), 0);
    const half = Array.from({ length: 128 }, (_, index) => (index % 2 === 0 ? 100 : 900));
    expect(isExceeded(baseline, half, 1.5)).toBe(false);
  });
});
