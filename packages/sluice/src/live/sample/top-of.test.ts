import fc from "fast-check";
import { expect, test } from "vitest";
import { topOf } from "./top-of.ts";

function falling(a: number, b: number): number {
  return b - a;
}

test("the first values of an order are those that sorting gives", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 })),
      fc.integer({ min: 1, max: 8 }),
      (values, max) => {
        expect(topOf(values, max, falling)).toEqual(values.toSorted(falling).slice(0, max));
      },
    ),
  );
});
