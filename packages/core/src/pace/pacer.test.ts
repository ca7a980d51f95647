import fc from "fast-check";
import { expect, test } from "vitest";
import { Pacer } from "./pacer.ts";

const CATCH_UP_MS = 20;

function paced(perSecond: number, burstMin = 1): Pacer {
  const pacer = new Pacer({ catchUpMs: CATCH_UP_MS, burstMin });
  pacer.setRate(perSecond, 0);
  return pacer;
}

/** Starts that are due at once. */
function burstAt(pacer: Pacer, nowMs: number): number {
  let burst = 0;
  while (burst < 10_000 && pacer.tryTake(nowMs)) burst++;
  return burst;
}

/** The instants of starts by a caller that waits out each pause and comes `lateMs` late. */
function startsUntil(pacer: Pacer, untilMs: number, lateMs: () => number): number[] {
  const starts: number[] = [];
  for (let nowMs = 0; nowMs < untilMs;) {
    const pauseMs = pacer.pauseMs(nowMs);
    nowMs += pauseMs > 0 ? pauseMs + lateMs() : 0;
    if (pacer.tryTake(nowMs)) starts.push(nowMs);
  }
  return starts;
}

const rates = fc.double({ min: 0.1, max: 50_000, noNaN: true });

test("without a rate nothing is spaced", () => {
  const pacer = new Pacer({ catchUpMs: CATCH_UP_MS });
  expect([pacer.perSecond, pacer.pauseMs(5), burstAt(pacer, 5)]).toEqual([undefined, 0, 10_000]);
});

test("starts are a gap apart, at a rate that is not whole as well", () => {
  const starts = startsUntil(paced(2.5), 4000, () => 0);
  expect(starts).toEqual(Array.from({ length: 10 }, (_, i) => 400 * (i + 1)));
});

test("over any stretch no more start than the rate and the catch-up allow", () => {
  const waits = fc.array(fc.oneof(fc.constant(0), fc.nat(3), fc.nat(300)), { maxLength: 100 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), waits, (perSecond, waitsMs) => {
      const pacer = paced(perSecond);
      const starts: number[] = [];
      let nowMs = 0;
      for (const waitMs of waitsMs) {
        nowMs += waitMs;
        while (pacer.tryTake(nowMs)) starts.push(nowMs);
      }
      for (const [first, fromMs] of starts.entries()) {
        const withinMs = (starts.at(-1) as number) - fromMs + CATCH_UP_MS;
        expect(starts.length - first).toBeLessThanOrEqual(1 + (perSecond * withinMs) / 1000 + 1e-6);
      }
    }),
    { numRuns: 50 },
  );
});

test("timers that are late by less than the catch-up cost no rate", () => {
  let turn = 0;
  const starts = startsUntil(paced(1000), 2000, () => turn++ % CATCH_UP_MS);
  expect(starts.length).toBeGreaterThanOrEqual(1975);
});

test("a quiet time allows the catch-up at once and no more, and at a slow rate the least burst", () => {
  expect(burstAt(paced(1000), 60_000)).toBe(21);
  expect(burstAt(paced(10), 60_000)).toBe(1);
  expect(burstAt(paced(10, 2), 60_000)).toBe(2);
});

test("a pause is as long as the next start has to wait", () => {
  fc.assert(
    fc.property(rates, fc.nat(1e9), (perSecond, nowMs) => {
      const pacer = paced(perSecond);
      burstAt(pacer, nowMs);
      const pauseMs = pacer.pauseMs(nowMs);
      expect(pauseMs).toBeGreaterThan(0);
      expect(pacer.tryTake(nowMs + 0.9 * pauseMs)).toBe(false);
      expect(pacer.tryTake(nowMs + pauseMs)).toBe(true);
    }),
  );
});

test("a new rate keeps the fraction of a gap that has passed", () => {
  const pacer = paced(1);
  pacer.setRate(10, 250);
  expect(pacer.pauseMs(250)).toBeCloseTo(75, 9);
});

test("a new rate keeps starts to be made up for, up to its own catch-up", () => {
  const faster = paced(100);
  faster.setRate(1000, 60_000);
  expect(burstAt(faster, 60_000)).toBe(3);
  const slower = paced(1000);
  slower.setRate(100, 60_000);
  expect(burstAt(slower, 60_000)).toBe(3);
});

test("starts that were never asked for delay the next one by the longest pause at most", () => {
  const pacer = new Pacer({ catchUpMs: CATCH_UP_MS, pauseMaxMs: 2000 });
  pacer.setRate(10, 0);
  for (let i = 0; i < 1000; i++) pacer.onStart(0);
  expect(pacer.pauseMs(0)).toBe(2000);
});

test.each([undefined, 100])(
  "a hold lets nothing start until it ends, then one, then a gap apart: set at a rate of %s",
  (perSecond) => {
    const pacer = new Pacer({ catchUpMs: CATCH_UP_MS });
    pacer.setRate(perSecond, 0);
    pacer.holdUntil(500);
    expect([pacer.pauseMs(0), pacer.tryTake(499)]).toEqual([500, false]);
    pacer.setRate(200, 100);
    expect(startsUntil(pacer, 515, () => 0)).toEqual([500, 505, 510, 515]);
  },
);

test("the end of pacing ends a hold", () => {
  const pacer = paced(10);
  pacer.holdUntil(5000);
  pacer.setRate(undefined, 0);
  expect(burstAt(pacer, 0)).toBe(10_000);
});

test("starts are lost only if the caller was later than the catch-up since the rate was set", () => {
  const pacer = paced(100);
  startsUntil(pacer, 1000, () => 5);
  expect(pacer.hasSpare).toBe(false);
  pacer.tryTake(2000);
  expect(pacer.hasSpare).toBe(true);
  pacer.setRate(100, 2000);
  expect(pacer.hasSpare).toBe(false);
});

interface Event {
  readonly waitMs: number;
  readonly kind: number;
  readonly rate: number;
}

/** What each event ends in; `asks`: with questions between. */
function play(events: readonly Event[], asks: boolean): [boolean, boolean][] {
  const pacer = new Pacer({ catchUpMs: CATCH_UP_MS, burstMin: 2, pauseMaxMs: 500 });
  let nowMs = 0;
  return events.map(({ waitMs, kind, rate }) => {
    nowMs += waitMs;
    if (asks) pacer.pauseMs(nowMs - waitMs / 2);
    if (kind === 0) pacer.setRate(rate, nowMs);
    else if (kind === 1) pacer.holdUntil(nowMs + 50);
    else if (kind === 2) pacer.onStart(nowMs);
    if (asks) pacer.pauseMs(nowMs);
    return [pacer.tryTake(nowMs), pacer.hasSpare];
  });
}

test("asking changes nothing", () => {
  const event = fc.record({ waitMs: fc.nat(100), kind: fc.nat(9), rate: rates });
  fc.assert(
    fc.property(fc.array(event, { maxLength: 100 }), (events) => {
      expect(play(events, true)).toEqual(play(events, false));
    }),
    { numRuns: 50 },
  );
});

test.each([0, -1, Number.NaN, Infinity])("a rate of %d is refused", (perSecond) => {
  expect(() => paced(perSecond)).toThrow("perSecond");
});
