import fc from "fast-check";
import { expect, test } from "vitest";
import { Ewma } from "./ewma.ts";

test("starts with its first value and no variance", () => {
  const ewma = new Ewma(0.4);
  expect(ewma.mean).toBeUndefined();
  ewma.update(10);
  expect([ewma.mean, ewma.variance]).toEqual([10, 0]);
});

test("moves by its part of each distance", () => {
  const ewma = new Ewma(0.4);
  ewma.update(10);
  ewma.update(20);
  expect(ewma.mean).toBe(14);
  // 0.6 · (0 + 0.4 · 100)
  expect(ewma.variance).toBe(24);
});

test("stays within what it saw, and its variance is never negative", () => {
  const value = fc.double({ min: 0, max: 1e6, noNaN: true });
  fc.assert(
    fc.property(
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.array(value, { minLength: 1 }),
      (alpha, values) => {
        const ewma = new Ewma(alpha);
        for (const each of values) ewma.update(each);
        const slack = 1e-6;
        expect(ewma.mean).toBeGreaterThanOrEqual(Math.min(...values) - slack);
        expect(ewma.mean).toBeLessThanOrEqual(Math.max(...values) + slack);
        expect(ewma.variance).toBeGreaterThanOrEqual(0);
      },
    ),
  );
});

test.each([-0.1, 1.1, Number.NaN])("refuses a weight of %s", (alpha) => {
  expect(() => new Ewma(alpha)).toThrow("alpha");
});
