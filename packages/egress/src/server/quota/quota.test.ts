import { VirtualClock } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Quota } from "./quota.ts";

const rates = fc.record({
  limit: fc.integer({ min: 1, max: 5000 }),
  periodMs: fc.oneof(fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(3_600_000, 86_400_000)),
  burst: fc.integer({ min: 1, max: 50 }),
});

/** What the key holds by the definition of a token bucket, in requests, not rounded. */
class ExactBucket {
  #tokens: number;
  readonly #perMs: number;
  readonly #burst: number;

  constructor({ limit, periodMs, burst }: { limit: number; periodMs: number; burst: number }) {
    this.#tokens = burst;
    this.#perMs = limit / periodMs;
    this.#burst = burst;
  }

  waitMs(requests: number): number {
    return Math.max(0, (requests - this.#tokens) / this.#perMs);
  }

  pass(ms: number): void {
    this.#tokens = Math.min(this.#burst, this.#tokens + ms * this.#perMs);
  }

  take(requests: number): void {
    this.#tokens -= requests;
  }
}

test("what it says of the time until there is more is right within a millisecond", () => {
  fc.assert(
    fc.property(
      rates,
      fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 40 }),
      (rate, gaps) => {
        const clock = new VirtualClock();
        const quota = new Quota(clock, rate, 10);
        const exact = new ExactBucket(rate);
        for (const gapMs of gaps) {
          clock.advance(gapMs);
          exact.pass(gapMs);
          const { isEnough, resetMs } = quota.look("a", 1, clock.now());
          if (isEnough) {
            quota.tryTake("a", 1, clock.now());
            exact.take(1);
            continue;
          }
          // A full bucket keeps the part of a token that it has begun, at most a millisecond's worth.
          expect(resetMs).toBeGreaterThanOrEqual(exact.waitMs(1) - 1.00001);
          expect(resetMs).toBeLessThanOrEqual(exact.waitMs(1) + 1.00001);
        }
      },
    ),
  );
});

test("a key that waits as told finds it enough, whatever the cost", () => {
  fc.assert(
    fc.property(
      rates,
      fc.array(fc.integer({ min: 1, max: 80 }), { maxLength: 30 }),
      (rate, costs) => {
        const clock = new VirtualClock();
        const quota = new Quota(clock, rate, 10);
        for (const cost of costs) {
          const { isEnough, resetMs = 0 } = quota.look("a", cost, clock.now());
          if (!isEnough) clock.advance(resetMs);
          expect(quota.look("a", cost, clock.now()).isEnough).toBe(true);
          quota.tryTake("a", cost, clock.now());
        }
      },
    ),
  );
});

test("half an hour before the next request of a slow rate it says half an hour", () => {
  const clock = new VirtualClock();
  const quota = new Quota(clock, { limit: 1, periodMs: 3_600_000, burst: 1 }, 10);
  quota.tryTake("a", 1, clock.now());
  clock.advance(1_800_000);
  expect(quota.look("a", 1, clock.now()).resetMs).toBe(1_800_000);
});

test("what remains is whole, never negative, and a full quota has no more to come", () => {
  const clock = new VirtualClock();
  const quota = new Quota(clock, { limit: 10, periodMs: 1000, burst: 4 }, 10);
  expect(quota.look("a", 1, 0)).toEqual({ isEnough: true, remaining: 4, resetMs: undefined });
  quota.tryTake("a", 3, 0);
  expect(quota.look("a", 1, 0)).toEqual({ isEnough: true, remaining: 1, resetMs: 100 });
  expect(quota.look("a", 1, 150)).toEqual({ isEnough: true, remaining: 2, resetMs: 50 });
  quota.tryTake("b", 9, 0);
  expect(quota.look("b", 0, 0)).toEqual({ isEnough: false, remaining: 0, resetMs: 500 });
});

test("a flood of keys stays within the bound, and room is found again once keys are idle", () => {
  const clock = new VirtualClock();
  const quota = new Quota(clock, { limit: 1, periodMs: 60_000, burst: 1 }, 1000);
  for (let i = 0; i < 100_000; i++) {
    const { isEnough } = quota.look(`flood ${i}`, 1, clock.now());
    if (isEnough) quota.tryTake(`flood ${i}`, 1, clock.now());
  }
  expect(quota.size).toBe(1000);
  expect(quota.look("late", 1, clock.now()).isEnough).toBe(false);
  clock.advance(60_000);
  // The shared quota of newcomers is full again as well: only with places of their own do two pass.
  for (const key of ["one", "two", "three"]) {
    expect(quota.look(key, 1, clock.now()).isEnough).toBe(true);
    quota.tryTake(key, 1, clock.now());
  }
});

test("newcomers that are refused make room for themselves", () => {
  const clock = new VirtualClock();
  const quota = new Quota(clock, { limit: 1, periodMs: 60_000, burst: 1 }, 100);
  for (let i = 0; i < 100; i++) quota.tryTake(`early ${i}`, 1, clock.now());
  clock.advance(30_000);
  quota.tryTake("newcomer of the shared quota", 1, clock.now());
  clock.advance(30_000);
  expect(quota.look("next", 1, clock.now()).isEnough).toBe(true);
});
