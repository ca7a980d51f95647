import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fairTurns, jain } from "./fair-turns.ts";

const rates = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 40 });
const total = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0);

describe("even turns", () => {
  test("what a modest producer leaves goes to those that ask for more", () => {
    expect(fairTurns([291, 618, 2_342], 1_500)).toEqual({ gets: [291, 604.5, 604.5], turn: 604.5 });
  });

  test("a limit that is enough gives everybody what it asks for, and there is no turn", () => {
    expect(fairTurns([291, 618], 909)).toEqual({ gets: [291, 618] });
  });

  test("of a limit of 0 nobody gets anything", () => {
    expect(fairTurns([5, 0], 0)).toEqual({ gets: [0, 0], turn: 0 });
  });

  test("the limit is used up or everybody has what it asks for, never more", () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 1_000_000 }), (asked, limit) => {
        const { gets } = fairTurns(asked, limit);
        expect(total(gets)).toBeCloseTo(Math.min(limit, total(asked)), 3);
        for (const [index, got] of gets.entries())
          expect(got).toBeLessThanOrEqual(asked[index] ?? 0);
      }),
    );
  });

  test("a producer that gets less than it asks for gets as much as any other", () => {
    fc.assert(
      fc.property(rates, fc.integer({ min: 0, max: 1_000_000 }), (asked, limit) => {
        const { gets } = fairTurns(asked, limit);
        const most = Math.max(0, ...gets);
        for (const [index, got] of gets.entries())
          if (got < (asked[index] ?? 0)) expect(got).toBeCloseTo(most, 6);
      }),
    );
  });
});

describe("evenness", () => {
  test("equal rates are 1, and one that has all of n is 1/n", () => {
    expect(jain([355, 355])).toBe(1);
    expect(jain([100, 0, 0, 0])).toBe(0.25);
  });

  test("it is not said of one producer, or of none that gets anything", () => {
    expect(jain([5])).toBeUndefined();
    expect(jain([0, 0])).toBeUndefined();
  });
});
