import fc from "fast-check";
import { expect, test } from "vitest";
import { QuotaPace } from "./quota-pace.ts";

/** A pace that has seen `perSecond` served for two seconds, and the instant. */
function pacedAfter(perSecond: number): { pace: QuotaPace; nowMs: number } {
  const pace = new QuotaPace(0);
  for (let i = 1; i <= 2 * perSecond; i++) pace.onServed((i * 1000) / perSecond);
  return { pace, nowMs: 2000 };
}

/** How long the second of two starts at an instant is held. */
function gapMs(pace: QuotaPace, atMs: number): number {
  pace.onStart(atMs - 20);
  const beforeMs = pace.pauseMs(atMs);
  pace.onStart(atMs);
  return pace.pauseMs(atMs) - beforeMs;
}

test("the hints of one burst count as one", () => {
  const once = pacedAfter(100);
  once.pace.onHint(once.nowMs, 1000, once.nowMs - 10);
  const often = pacedAfter(100);
  for (let i = 0; i < 10; i++) often.pace.onHint(often.nowMs + i, 1000, often.nowMs - 10);
  expect(gapMs(often.pace, 4000)).toBeCloseTo(gapMs(once.pace, 4000), 6);
});

test("a hint before anything was served sets no pace", () => {
  const pace = new QuotaPace(0);
  pace.onHint(10, 1000, 0);
  for (let i = 0; i < 100; i++) pace.onStart(2000);
  expect(pace.pauseMs(2000)).toBe(0);
});

test("after any hints, one start in two seconds gets through", () => {
  const step = fc.record({
    waitMs: fc.double({ min: 0, max: 5000, noNaN: true }),
    what: fc.constantFrom("start", "served", "told"),
    pauseMs: fc.double({ min: 1, max: 100_000, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pace = new QuotaPace(0);
      let nowMs = 0;
      for (const { waitMs, what, pauseMs } of steps) {
        nowMs += waitMs;
        if (what === "start") for (let i = 0; i < 10; i++) pace.onStart(nowMs);
        else if (what === "served") pace.onServed(nowMs);
        else pace.onHint(nowMs, pauseMs, nowMs - 1);
        expect(pace.pauseMs(nowMs)).toBeLessThan(2000.001);
      }
    }),
  );
});
