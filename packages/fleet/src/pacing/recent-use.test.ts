import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentUse, SLOT_MS } from "./recent-use.ts";

const step = fc.record({
  ms: fc.oneof(fc.nat(30), fc.nat(2000), fc.integer({ min: -500, max: 0 })),
  count: fc.nat(100),
  isReturned: fc.boolean(),
});

test("knows all that was used in the last second, and nothing that is older than a second and a slot", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const recent = new RecentUse();
      const taken: { atMs: number; slot: number; count: number }[] = [];
      let nowMs = 0;
      for (const { ms, count, isReturned } of steps) {
        nowMs += Math.max(0, ms);
        recent.moveTo(nowMs);
        recent.add(count);
        taken.push({ atMs: nowMs, slot: recent.slot, count });
        const first = taken[0];
        if (isReturned && first !== undefined && recent.remove(first.slot, first.count))
          taken[0] = { ...first, count: 0 };
        const since = (ageMs: number): number =>
          taken.reduce((sum, use) => sum + (nowMs - use.atMs < ageMs ? use.count : 0), 0);
        expect(recent.sum).toBeGreaterThanOrEqual(since(1000));
        expect(recent.sum).toBeLessThanOrEqual(since(1000 + 2 * SLOT_MS));
      }
    }),
  );
});

test("a time that steps back forgets nothing, and goes on from there", () => {
  const recent = new RecentUse();
  recent.moveTo(60_000);
  recent.add(5);
  recent.moveTo(20_000);
  expect(recent.sum).toBe(5);
  recent.moveTo(20_990);
  expect(recent.sum).toBe(5);
  recent.moveTo(21_020);
  expect(recent.sum).toBe(0);
});

test("what is forgotten cannot come back", () => {
  const recent = new RecentUse();
  recent.moveTo(1000);
  recent.add(5);
  const { slot } = recent;
  recent.moveTo(1990);
  expect(recent.remove(slot, 2)).toBe(true);
  recent.moveTo(2020);
  expect(recent.remove(slot, 3)).toBe(false);
  expect(recent.sum).toBe(0);
});
