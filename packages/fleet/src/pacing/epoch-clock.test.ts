import fc from "fast-check";
import { expect, test } from "vitest";
import { EPOCH_MS, epochAt } from "./pacing.ts";
import { EpochClock } from "./epoch-clock.ts";

const YEARS_MS = 1_760_000_000_000;

test("epochs begin with those of the store, and count with its number where tokens rotate", () => {
  fc.assert(
    fc.property(fc.integer({ min: -YEARS_MS, max: YEARS_MS }), fc.nat(1e9), (offsetMs, nowMs) => {
      const time = new EpochClock();
      time.learn(nowMs + offsetMs, nowMs, nowMs);
      const epoch = epochAt(time.at(nowMs));
      expect(epoch + time.turnOffset).toBe(epochAt(nowMs + offsetMs));
      expect(time.from(time.at(nowMs))).toBe(nowMs);
    }),
  );
});

test("however often the store's time jumps, as many epochs pass as seconds, and one or two", () => {
  const jumps = fc.array(fc.integer({ min: -40_000, max: 40_000 }), { maxLength: 50 });
  fc.assert(
    fc.property(jumps, (offsets) => {
      const time = new EpochClock();
      let nowMs = 0;
      let last = -1;
      for (const offsetMs of offsets) {
        nowMs += 500;
        time.learn(nowMs + offsetMs, nowMs, nowMs);
        last = Math.max(last, epochAt(time.at(nowMs)));
        expect(Math.abs(time.at(nowMs) - nowMs)).toBeLessThanOrEqual(EPOCH_MS);
      }
      expect(last).toBeLessThanOrEqual(epochAt(nowMs) + 1);
    }),
  );
});

test("one jump moves where epochs begin by half a second at most", () => {
  fc.assert(
    fc.property(fc.nat(999), fc.integer({ min: -1e6, max: 1e6 }), (first, second) => {
      const time = new EpochClock();
      time.learn(10_000 + first, 10_000, 10_000);
      const before = time.at(20_000);
      time.learn(20_000 + second, 20_000, 20_000);
      const moved = Math.abs(time.at(20_000) - before);
      expect(moved).toBeLessThanOrEqual(500);
    }),
  );
});

test("an answer that took long moves nothing by its delay", () => {
  const time = new EpochClock();
  time.learn(5000, 1000, 1010);
  const before = time.at(2000);
  time.learn(6000, 1995, 2240);
  expect(time.at(2000)).toBe(before);
  time.learn(7300, 3000, 3000);
  expect(time.at(2000)).not.toBe(before);
});
