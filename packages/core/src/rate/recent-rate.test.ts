import { expect, test } from "vitest";
import { RecentRate } from "./recent-rate.ts";

/** A rate that got `count` events, evenly within the second from `fromMs` on. */
function record(rate: RecentRate, fromMs: number, count: number, rttMs = 0): void {
  for (let i = 0; i < count; i++) rate.record(fromMs + (i * 1000) / count, rttMs);
}

test("the first two events read as a rate over at least 100 ms", () => {
  const rate = new RecentRate(0);
  rate.record(0, 0);
  rate.record(1, 0);
  expect(rate.peak).toBeCloseTo(2000 / 101, 3);
});

test("a peak is remembered for one to two seconds of slower events", () => {
  const rate = new RecentRate(0);
  for (const [second, count] of [100, 10, 10, 10].entries()) record(rate, second * 1000, count);
  expect(rate.perSecond(3900)).toBeLessThan(20);
  expect(rate.peak).toBeLessThan(20);
  const soon = new RecentRate(0);
  for (const [second, count] of [100, 10].entries()) record(soon, second * 1000, count);
  expect(soon.peak).toBeGreaterThan(90);
});

test("a peak is remembered for two round trips if that is longer", () => {
  const rate = new RecentRate(0);
  for (const [second, count] of [100, 10, 10, 10].entries())
    record(rate, second * 1000, count, 2000);
  expect(rate.peak).toBeGreaterThan(90);
});
