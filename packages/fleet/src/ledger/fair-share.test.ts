import fc from "fast-check";
import { expect, test } from "vitest";
import { demandOf, fairShare } from "./fair-share.ts";
import { equalShare, PARTS } from "./parts.ts";

function fairShares(wanted: readonly number[]): number[] {
  const total = { lent: 0, extra: 0 };
  for (const each of wanted) {
    const { lent, extra } = demandOf(each, wanted.length);
    total.lent += lent;
    total.extra += extra;
  }
  return wanted.map((each) => fairShare(each, wanted.length, total));
}

const PERCENT = PARTS / 100;

test.each([
  ["all want everything", [100, 100, 100, 100], [25, 25, 25, 25]],
  ["one wants everything, the others nothing", [100, 0, 0, 0], [100, 0, 0, 0]],
  ["what one lends goes to all others alike", [10, 100, 100, 100], [10, 30, 30, 30]],
  [
    "more goes to the member that wants more",
    [5, 5, 45, 65],
    [5, 5, 25 + 40 / 3, 25 + (2 * 40) / 3],
  ],
  ["everybody has what it wants if that is the ceiling", [5, 30, 30, 35], [5, 30, 30, 35]],
  ["what no member wants stays with its lender", [5, 5, 5, 5], [25, 25, 25, 25]],
  ["of what is lent only what is wanted is taken", [10, 10, 35, 25], [20, 20, 35, 25]],
])("%s", (_name, wanted, fair) => {
  const found = fairShares(wanted.map((each) => each * PERCENT));
  expect(found).toEqual(fair.map((each) => Math.floor(each * PERCENT)));
});

const wishes = fc.array(fc.integer({ min: 0, max: PARTS }), { minLength: 1, maxLength: 50 });

test("fair shares add up to the ceiling, and every member has what it wants up to its equal share", () => {
  fc.assert(
    fc.property(wishes, (wanted) => {
      const fair = fairShares(wanted);
      const equal = equalShare(wanted.length);
      const sum = fair.reduce((total, each) => total + each, 0);
      expect(sum).toBeLessThanOrEqual(PARTS);
      // Rounding takes less than two parts from each.
      expect(sum).toBeGreaterThan((equal - 2) * wanted.length - 1);
      for (const [index, each] of fair.entries()) {
        expect(each).toBeGreaterThanOrEqual(Math.min(wanted[index] ?? 0, equal));
        expect(each).toBeLessThanOrEqual(Math.max(wanted[index] ?? 0, equal));
      }
    }),
  );
});
