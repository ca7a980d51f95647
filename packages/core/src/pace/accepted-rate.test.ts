import fc from "fast-check";
import { expect, test } from "vitest";
import { AcceptedRate } from "./accepted-rate.ts";

/** Records `perSecond` calls a second, evenly, and answers the instant of the last. */
function recordEvenly(
  rate: AcceptedRate,
  perSecond: number,
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): number {
  const gapMs = 1000 / perSecond;
  const count = Math.floor((untilMs - fromMs) / gapMs);
  for (let i = 1; i <= count; i++) rate.record(fromMs + i * gapMs);
  return fromMs + count * gapMs;
}

test("an even rate is told as it is, give or take two calls in a second", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 10, max: 5000 }),
      fc.integer({ min: 1000, max: 20_000 }),
      (perSecond, lengthMs) => {
        const rate = new AcceptedRate(0);
        const lastMs = recordEvenly(rate, perSecond, { fromMs: 0, untilMs: lengthMs });
        expect(Math.abs(rate.perSecond(lastMs) - perSecond)).toBeLessThanOrEqual(2);
      },
    ),
  );
});

test("a time that is left out does not count as one without calls", () => {
  const rate = new AcceptedRate(0);
  recordEvenly(rate, 100, { fromMs: 0, untilMs: 1500 });
  rate.skip(1000);
  const lastMs = recordEvenly(rate, 100, { fromMs: 2500, untilMs: 2800 });
  expect(rate.perSecond(lastMs)).toBeCloseTo(100, -1);
});

test("what was long before says nothing", () => {
  const rate = new AcceptedRate(0);
  recordEvenly(rate, 1000, { fromMs: 0, untilMs: 2000 });
  const lastMs = recordEvenly(rate, 10, { fromMs: 10_000, untilMs: 10_900 });
  expect(rate.perSecond(lastMs)).toBeGreaterThan(8);
  expect(rate.perSecond(lastMs)).toBeLessThan(12);
});

test("a few at once are no high rate", () => {
  const rate = new AcceptedRate(0);
  for (let i = 0; i < 20; i++) rate.record(1);
  expect(rate.perSecond(2)).toBe(80);
});
