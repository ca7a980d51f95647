import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../random.ts";
import { Growth } from "./growth.ts";

const limit = fc.integer({ min: 1, max: 10_000 });

function setUp(seed = 1): Growth {
  return new Growth(new SeededRandom(seed));
}

describe("a step", () => {
  test("doubles as long as steps go well, up to half the limit", () => {
    const growth = setUp();
    const steps = [100, 100, 100, 100, 100, 100, 100].map((from) => {
      const step = growth.step(from, 0);
      growth.onStepTaken();
      return step;
    });
    expect(steps).toEqual([2, 4, 8, 16, 32, 50, 50]);
  });

  test("is whole, at least 1 and at most half the limit, whatever went before", () => {
    const events = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constantFrom("taken", "pause", "wait"), of: limit }),
        fc.record({ kind: fc.constantFrom("loss", "queue"), of: limit }),
      ),
    );
    fc.assert(
      fc.property(events, limit, (all, from) => {
        const growth = setUp();
        let nowMs = 0;
        for (const { kind, of } of all) {
          if (kind === "taken") growth.onStepTaken();
          else if (kind === "pause") growth.pause();
          else if (kind === "wait") nowMs += of;
          else growth.stopAt(of, kind, { nowMs, rttMs: 100 });
        }
        const step = growth.step(from, nowMs);
        expect(Number.isInteger(step)).toBe(true);
        expect(step).toBeGreaterThanOrEqual(1);
        expect(step).toBeLessThanOrEqual(Math.max(1, from / 2));
      }),
    );
  });

  test("stays possible after any number of them", () => {
    const growth = setUp();
    for (let taken = 0; taken < 5000; taken++) growth.onStepTaken();
    expect(growth.step(1000, 0)).toBe(500);
  });

  test("is one around where a loss last stopped the limit", () => {
    const growth = setUp();
    growth.stopAt(100, "loss", { nowMs: 0, rttMs: 100 });
    const steps = [50, 71, 100, 129, 200].map((from) => growth.step(from, 1));
    expect(steps).toEqual([2, 1, 1, 1, 2]);
  });

  test("is half the root around where a queue last stopped it, which costs only time", () => {
    const growth = setUp();
    growth.stopAt(100, "queue", { nowMs: 0, rttMs: 100 });
    const steps = [50, 71, 100, 129, 200].map((from) => growth.step(from, 1));
    expect(steps).toEqual([2, 4, 5, 5, 2]);
    growth.stopAt(3, "queue", { nowMs: 0, rttMs: 100 });
    expect(growth.step(3, 1)).toBe(1);
  });

  test("goes by what stopped it last", () => {
    const growth = setUp();
    growth.stopAt(100, "queue", { nowMs: 0, rttMs: 100 });
    growth.stopAt(100, "loss", { nowMs: 0, rttMs: 100 });
    expect(growth.step(100, 1)).toBe(1);
  });

  test("begins small again after one near the edge, of whatever kind", () => {
    for (const kind of ["loss", "queue"] as const) {
      const growth = setUp();
      growth.stopAt(100, kind, { nowMs: 0, rttMs: 100 });
      for (let taken = 0; taken < 5; taken++) growth.onStepTaken();
      growth.step(100, 1);
      expect(growth.step(200, 1)).toBe(2);
    }
  });

  test.each([
    { rttMs: 10, believedMs: 1000 },
    { rttMs: 50, believedMs: 5000 },
    { rttMs: 10_000, believedMs: 5000 },
  ])("believes that for $believedMs ms with round trips of $rttMs", ({ rttMs, believedMs }) => {
    const growth = setUp();
    growth.stopAt(100, "loss", { nowMs: 500, rttMs });
    const nearAt = (nowMs: number) => [growth.isNearEdge(100, nowMs), growth.step(100, nowMs)];
    expect(nearAt(500 + believedMs - 1)).toEqual([true, 1]);
    expect(nearAt(500 + believedMs)).toEqual([false, 2]);
  });

  test("begins small again when there was no room", () => {
    const growth = setUp();
    for (let taken = 0; taken < 5; taken++) growth.onStepTaken();
    growth.pause();
    expect(growth.step(100, 0)).toBe(2);
  });
});

test("is held for about so many round trips, not for the same time by all", () => {
  const ends = Array.from({ length: 200 }, (_, seed) => {
    const growth = setUp(seed);
    growth.hold(1000, 4, 100);
    let nowMs = 1000;
    while (growth.isHeld(nowMs)) nowMs++;
    return nowMs - 1000;
  });
  expect(Math.min(...ends)).toBeGreaterThanOrEqual(300);
  expect(Math.max(...ends)).toBeLessThanOrEqual(500);
  expect(new Set(ends).size).toBeGreaterThan(50);
});

test("nothing holds it, and no edge is near, once it is released", () => {
  const growth = setUp();
  growth.stopAt(100, "loss", { nowMs: 0, rttMs: 100 });
  growth.hold(0, 4, 100);
  expect([growth.isHeld(1), growth.isNearEdge(100, 1)]).toEqual([true, true]);
  growth.release();
  expect([growth.isHeld(1), growth.isNearEdge(100, 1)]).toEqual([false, false]);
});

test("is not held before it was told so", () => {
  expect(setUp().isHeld(0)).toBe(false);
});
