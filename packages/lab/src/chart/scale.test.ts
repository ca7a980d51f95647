import * as fc from "fast-check";
import { expect, test } from "vitest";
import { linearScale, spreadRange, ticksOver } from "./scale.ts";

const anyRange = fc
  .tuple(
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
  )
  .map(([a, b]) => spreadRange({ from: Math.min(a, b), to: Math.max(a, b) }));

const anyCountMax = fc.integer({ min: 5, max: 10 });

test("ticks cover the range and stop at the next round number", () => {
  fc.assert(
    fc.property(anyRange, anyCountMax, (range, countMax) => {
      const ticks = ticksOver(range, countMax);
      const [first = NaN, second = NaN, last = NaN] = [ticks[0], ticks[1], ticks.at(-1)];
      const step = second - first;
      const slack = step * 1e-3;
      expect(first).toBeLessThanOrEqual(range.from + slack);
      expect(first).toBeGreaterThan(range.from - step - slack);
      expect(last).toBeGreaterThanOrEqual(range.to - slack);
      expect(last).toBeLessThan(range.to + step + slack);
    }),
  );
});

test("ticks are few", () => {
  fc.assert(
    fc.property(anyRange, anyCountMax, (range, countMax) => {
      const { length } = ticksOver(range, countMax);
      expect(length).toBeGreaterThanOrEqual(3);
      expect(length).toBeLessThanOrEqual(countMax);
    }),
  );
});

test("ticks are evenly spaced by one, two or five times a power of ten", () => {
  fc.assert(
    fc.property(anyRange, anyCountMax, (range, countMax) => {
      const ticks = ticksOver(range, countMax);
      const step = ((ticks.at(-1) ?? NaN) - (ticks[0] ?? NaN)) / (ticks.length - 1);
      expect(step.toExponential(3)).toMatch(/^[125]\.000e/);
      for (const [index, tick] of ticks.entries()) {
        const even = (ticks[0] ?? NaN) + index * step;
        expect(Math.abs(tick - even)).toBeLessThan(step * 1e-3);
      }
    }),
  );
});

test.each([
  { from: 0, to: 110, ticks: [0, 20, 40, 60, 80, 100, 120] },
  { from: 0, to: 0.3, ticks: [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3] },
  { from: -35, to: 80, ticks: [-40, -20, 0, 20, 40, 60, 80] },
  { from: 0, to: 1e16, ticks: [0, 2e15, 4e15, 6e15, 8e15, 1e16] },
])("the ticks from $from to $to are $ticks", ({ from, to, ticks }) => {
  expect(ticksOver({ from, to }, 7)).toEqual(ticks);
});

test("a range without extent gets room on both sides, and nothing at all goes from 0 to 1", () => {
  expect(spreadRange({ from: 6, to: 6 })).toEqual({ from: 3, to: 9 });
  expect(spreadRange({ from: 0, to: 0 })).toEqual({ from: 0, to: 1 });
});

test("the ends of a range are drawn at the ends of the canvas, and order is kept between", () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(anyRange, share, share, (range, a, b) => {
      const scale = linearScale(range, { from: 300, to: 0 });
      const valueAt = (part: number): number => range.from + (range.to - range.from) * part;
      expect(scale(range.from)).toBe(300);
      expect(scale(range.to)).toBe(0);
      expect(scale(valueAt(Math.max(a, b)))).toBeLessThanOrEqual(scale(valueAt(Math.min(a, b))));
    }),
  );
});

test("values far outside stay within what a renderer can calculate", () => {
  const scale = linearScale({ from: 0, to: 1 }, { from: 0, to: 700 });
  expect(scale(1e308)).toBe(100_000);
  expect(scale(-1e308)).toBe(-100_000);
});
