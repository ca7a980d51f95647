import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../../../random.ts";
import { FREE_GROWTH, held, isNearEdge, released, stepOf, stoppedAt } from "./growth.ts";

const at = (nowMs: number, rttMs = 100) => ({ nowMs, rttMs });

describe("a step", () => {
  test("doubles while steps are served, up to half of the limit", () => {
    const steps = [0, 1, 2, 3, 4, 5, 6].map((streak) =>
      stepOf({ ...FREE_GROWTH, streak }, 100, false),
    );
    expect(steps).toEqual([2, 4, 8, 16, 32, 50, 50]);
  });

  test("is whole, at least 1 and at most half of the limit, however many were served", () => {
    const attempts = fc.double({ min: 0.2, max: 10_000, noNaN: true });
    fc.assert(
      fc.property(attempts, fc.nat(5000), fc.boolean(), (limit, streak, isNear) => {
        const step = stepOf({ ...FREE_GROWTH, streak }, limit, isNear);
        expect(Number.isInteger(step)).toBe(true);
        expect(step).toBeGreaterThanOrEqual(1);
        expect(step).toBeLessThanOrEqual(Math.max(1, limit / 2));
      }),
    );
  });

  test("is one near the edge", () => {
    expect(stepOf({ ...FREE_GROWTH, streak: 5 }, 100, true)).toBe(1);
  });
});

describe("the edge", () => {
  test("is near within 30 % of where the limit last stopped", () => {
    const growth = stoppedAt(FREE_GROWTH, 100, at(0));
    const near = [50, 70, 71, 100, 129, 130].map((limit) => isNearEdge(growth, limit, 1));
    expect(near).toEqual([false, false, true, true, true, false]);
  });

  test.each([
    { rttMs: 10, rememberedMs: 1000 },
    { rttMs: 50, rememberedMs: 5000 },
    { rttMs: 10_000, rememberedMs: 5000 },
  ])("is remembered for $rememberedMs ms with round trips of $rttMs", ({ rttMs, rememberedMs }) => {
    const growth = stoppedAt(FREE_GROWTH, 100, at(500, rttMs));
    const near = [rememberedMs - 1, rememberedMs].map((ms) => isNearEdge(growth, 100, 500 + ms));
    expect(near).toEqual([true, false]);
  });

  test("ends a streak of steps", () => {
    expect(stoppedAt({ ...FREE_GROWTH, streak: 7 }, 100, at(0)).streak).toBe(0);
  });
});

test("growth is held for about the given round trips, by each client for another time", () => {
  const holdsMs = Array.from(
    { length: 200 },
    (_, seed) => held(FREE_GROWTH, 4, at(1000), new SeededRandom(seed)).heldUntilMs - 1000,
  );
  expect([Math.round(Math.min(...holdsMs) / 10), Math.round(Math.max(...holdsMs) / 10)]).toEqual([
    30, 50,
  ]);
  expect(new Set(holdsMs).size).toBeGreaterThan(50);
});

test("growth is held for half a minute and a quarter at most, however long round trips are", () => {
  const { heldUntilMs } = held(FREE_GROWTH, 20, at(0, 3_600_000), new SeededRandom(1));
  expect(heldUntilMs).toBeLessThanOrEqual(37_500);
  expect(heldUntilMs).toBeGreaterThanOrEqual(22_500);
});

test("release ends a hold and forgets the edge", () => {
  const stopped = stoppedAt({ ...FREE_GROWTH, streak: 3 }, 100, at(0));
  const growth = released(held(stopped, 4, at(0), new SeededRandom(1)));
  expect([growth.heldUntilMs, isNearEdge(growth, 100, 1)]).toEqual([0, false]);
});
