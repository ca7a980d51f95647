import fc from "fast-check";
import { expect, test } from "vitest";
import { RateMeter } from "./rate-meter.ts";

test("a steady rate reads as itself at any instant after the first part of the window", () => {
  const gapMs = fc.constantFrom(1, 2, 5, 10);
  fc.assert(
    fc.property(gapMs, fc.nat(10_000), fc.nat(5000), fc.nat(49), (gap, startMs, runMs, restMs) => {
      const meter = new RateMeter({ clock: { now: () => startMs } });
      const endMs = startMs + 100 + runMs + restMs / 50;
      let events = 0;
      for (let atMs = startMs + gap; atMs <= endMs; atMs += gap) {
        meter.record(1, atMs);
        events++;
      }
      // At most two events more or fewer than the span has gaps: one at each of its ends.
      const spanMs = Math.min(1000, endMs - startMs);
      const tolerance = (2 * 1000) / spanMs;
      expect(events).toBeGreaterThan(0);
      expect(Math.abs(meter.perSecond(endMs) - 1000 / gap)).toBeLessThanOrEqual(tolerance);
    }),
  );
});

test("a burst counts over the time the meter has run, then over the window, then not at all", () => {
  const meter = new RateMeter({ clock: { now: () => 0 }, windowMs: 1000, slices: 10 });
  meter.record(100, 0);
  const at = [0, 99, 100, 500, 1000, 1050, 1099, 1100, 60_000];
  expect(at.map((nowMs) => Math.round(meter.perSecond(nowMs)))).toEqual([
    0, 0, 1000, 200, 100, 95, 91, 0, 0,
  ]);
});

test("what came in each part of the window is forgotten with that part", () => {
  const meter = new RateMeter({ clock: { now: () => 0 }, windowMs: 1000, slices: 10 });
  for (let part = 0; part < 10; part++) meter.record(2 ** part, part * 100 + 50);
  const totals = Array.from({ length: 11 }, (_, i) => meter.perSecond(1000 + i * 100));
  expect(totals).toEqual([1023, 1022, 1020, 1016, 1008, 992, 960, 896, 768, 512, 0]);
});

test("a clock that steps back does not change the rate", () => {
  const meter = new RateMeter({ clock: { now: () => 0 }, windowMs: 1000, slices: 10 });
  meter.record(100, 0);
  expect([1000, 500, 50].map((nowMs) => meter.perSecond(nowMs))).toEqual([100, 100, 100]);
});
