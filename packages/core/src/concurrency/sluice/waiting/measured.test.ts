import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../../random.ts";
import { differenceOf, lowQuantileOf, meanOf } from "./measured.ts";

const rttMs = fc.double({ min: 0, max: 1e6, noNaN: true });
const rttsMs = fc.array(rttMs, { minLength: 1, maxLength: 200 });

test.each([
  { of: [7], quantile: 7, mean: 7 },
  { of: [4, 3, 2, 1], quantile: 2, mean: 2.5 },
  { of: [8, 1, 7, 2, 6, 3, 5, 4], quantile: 3, mean: 4.5 },
  { of: [5, 5, 5, 5], quantile: 5, mean: 5 },
])("of $of the low quantile is $quantile and the mean $mean", ({ of, quantile, mean }) => {
  expect(lowQuantileOf(of).valueMs).toBe(quantile);
  expect(meanOf(of).valueMs).toBe(mean);
});

describe.each([
  { name: "the low quantile", measure: lowQuantileOf },
  { name: "the mean", measure: meanOf },
])("$name", ({ measure }) => {
  test("lies within what was measured, in any order, and changes none of it", () => {
    fc.assert(
      fc.property(rttsMs, (values) => {
        const given = Object.freeze([...values]);
        const { valueMs, errorMs } = measure(given);
        expect(valueMs).toBeGreaterThanOrEqual(Math.min(...values) * (1 - 1e-9));
        expect(valueMs).toBeLessThanOrEqual(Math.max(...values) * (1 + 1e-9));
        expect(errorMs).toBeGreaterThanOrEqual(0);
        const reversed = measure(values.toReversed());
        expect(reversed.valueMs).toBeCloseTo(valueMs, 5);
        expect(reversed.errorMs).toBeCloseTo(errorMs, 5);
      }),
    );
  });

  test("moves with all of them, and its error does not shrink below a hundredth", () => {
    fc.assert(
      fc.property(rttsMs, fc.double({ min: 0, max: 1000, noNaN: true }), (values, byMs) => {
        const moved = measure(values.map((value) => value + byMs));
        expect(moved.valueMs).toBeCloseTo(measure(values).valueMs + byMs, 4);
        expect(moved.errorMs).toBeGreaterThanOrEqual(0.01 * moved.valueMs);
      }),
    );
  });

  test("of few has an error from their number alone, however alike they are", () => {
    expect(measure([100])).toEqual({ valueMs: 100, errorMs: 100 });
    expect(measure([100, 100, 100, 100])).toEqual({ valueMs: 100, errorMs: 50 });
    expect(measure(Array<number>(8).fill(100))).toEqual({ valueMs: 100, errorMs: 1 });
  });

  test("is off by more than twice its error about as rarely as chance has it", () => {
    const random = new SeededRandom(1);
    const draw = (): number => 20 - 100 * Math.log(1 - random.next());
    const isMean = measure === meanOf;
    const trueMs = isMean ? 120 : 20 - 100 * Math.log(0.75);
    const tries = 2000;
    let off = 0;
    for (let left = tries; left > 0; left--) {
      const { valueMs, errorMs } = measure(Array.from({ length: 48 }, draw));
      if (Math.abs(valueMs - trueMs) > 2 * errorMs) off++;
    }
    // 5 in a hundred if errors were exact and normal.
    expect(off / tries).toBeLessThan(0.12);
    expect(off / tries).toBeGreaterThan(0.01);
  });
});

test("a difference is as uncertain as both together", () => {
  const difference = differenceOf({ valueMs: 10, errorMs: 3 }, { valueMs: 4, errorMs: 4 });
  expect(difference).toEqual({ valueMs: 6, errorMs: 5 });
});
