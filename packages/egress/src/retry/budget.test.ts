import { ConfigError } from "@sluice/core";
import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { RetryBudget } from "./budget.ts";

function withdrawAll(budget: RetryBudget): number {
  let retries = 0;
  while (budget.tryWithdraw()) retries++;
  return retries;
}

test("without traffic there is the reserve, and again as much after the ttl", () => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock);
  expect(withdrawAll(budget)).toBe(100);
  clock.advance(9999);
  expect(withdrawAll(budget)).toBe(0);
  clock.advance(1001);
  expect(withdrawAll(budget)).toBe(100);
});

test("every fifth first attempt pays for a retry until it is forgotten", () => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock, { minPerSecond: 0 });
  expect(withdrawAll(budget)).toBe(0);
  for (let i = 0; i < 14; i++) budget.deposit();
  expect(budget.balance()).toBeCloseTo(2.8, 9);
  expect(withdrawAll(budget)).toBe(2);
  clock.advance(5000);
  for (let i = 0; i < 6; i++) budget.deposit();
  expect(withdrawAll(budget)).toBe(2);
  clock.advance(60_000);
  expect(budget.balance()).toBe(0);
});

test("first attempts are forgotten before the retries that they paid for", () => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock, { minPerSecond: 0, ratio: 1 });
  budget.deposit();
  expect(budget.tryWithdraw()).toBe(true);
  clock.advance(10_000);
  expect(budget.balance()).toBe(-1);
  clock.advance(1000);
  expect(budget.balance()).toBe(0);
});

test("a refused retry costs nothing, and asking changes nothing", () => {
  const budget = new RetryBudget(new VirtualClock(), { minPerSecond: 0, ratio: 0.5 });
  budget.deposit();
  for (let i = 0; i < 10; i++) expect(budget.tryWithdraw()).toBe(false);
  expect([budget.balance(), budget.balance()]).toEqual([0.5, 0.5]);
  budget.deposit();
  expect(budget.tryWithdraw()).toBe(true);
});

test("a clock that steps back brings nothing back", () => {
  const budget = new RetryBudget(new VirtualClock(), { minPerSecond: 1, ttlMs: 1000 });
  expect(budget.tryWithdraw(5000)).toBe(true);
  for (const nowMs of [5000, 4000, 0, 5000]) expect(budget.tryWithdraw(nowMs)).toBe(false);
});

test("over any ttl that ends with a retry, retries <= ratio x attempts + reserve", () => {
  const step = fc.record({
    waitMs: fc.oneof(fc.constant(0), fc.nat(50), fc.nat(2500)),
    attempts: fc.nat(4),
    retries: fc.nat(6),
  });
  const options = fc.record({
    ratio: fc.constantFrom(0, 0.1, 0.2, 0.5, 1, 2),
    minPerSecond: fc.constantFrom(0, 0.5, 1, 3),
    ttlMs: fc.constantFrom(1000, 1500, 2000),
  });
  const startMs = fc.nat(10_000);
  fc.assert(
    fc.property(options, startMs, fc.array(step, { maxLength: 60 }), (settings, start, steps) => {
      const clock = new VirtualClock();
      clock.advance(start);
      const budget = new RetryBudget(clock, settings);
      const attemptsAtMs: number[] = [];
      const retriesAtMs: number[] = [];
      for (const { waitMs, attempts, retries } of steps) {
        clock.advance(waitMs);
        const nowMs = clock.now();
        for (let i = 0; i < attempts; i++) {
          budget.deposit();
          attemptsAtMs.push(nowMs);
        }
        for (let i = 0; i < retries; i++) {
          if (!budget.tryWithdraw()) continue;
          retriesAtMs.push(nowMs);
          const within = (atMs: number): boolean => atMs > nowMs - settings.ttlMs;
          const bound =
            settings.ratio * attemptsAtMs.filter(within).length +
            (settings.minPerSecond * settings.ttlMs) / 1000;
          expect(retriesAtMs.filter(within).length).toBeLessThanOrEqual(bound);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("with steady traffic nearly all of the ratio can be used", () => {
  const clock = new VirtualClock();
  const budget = new RetryBudget(clock, { minPerSecond: 0 });
  let retries = 0;
  for (let i = 0; i < 10_000; i++) {
    clock.advance(10);
    budget.deposit();
    if (budget.tryWithdraw()) retries++;
  }
  expect(retries).toBeGreaterThan(0.85 * 0.2 * 10_000);
  expect(retries).toBeLessThanOrEqual(0.2 * 10_000);
});

test.each([
  { ratio: -0.1 },
  { ratio: Number.NaN },
  { ratio: 11 },
  { minPerSecond: -1 },
  { minPerSecond: Number.POSITIVE_INFINITY },
  { ttlMs: 0 },
  { ttlMs: 1e9 },
])("%j is refused", (options) => {
  expect(() => new RetryBudget(new VirtualClock(), options)).toThrow(ConfigError);
});
