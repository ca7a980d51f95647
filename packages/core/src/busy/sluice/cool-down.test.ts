import fc from "fast-check";
import { expect, test } from "vitest";
import { ClimbCost, climbCoolDownMs, coolDownMs, costlyClimbsAfter } from "./cool-down.ts";
import type { Limit } from "./state.ts";

const DAY_MS = 86_400_000;

test("the longer a peer was busy, the longer the cool-down, by every second up to a day", () => {
  fc.assert(
    fc.property(fc.nat(DAY_MS), fc.integer({ min: 1000, max: DAY_MS }), (busyForMs, moreMs) => {
      expect(coolDownMs(busyForMs + moreMs)).toBeGreaterThan(coolDownMs(busyForMs));
    }),
  );
});

test("a cool-down is a quarter of a second at least, and never three seconds", () => {
  expect(coolDownMs(0)).toBe(250);
  expect(coolDownMs(200_000)).toBe(1500);
  expect(coolDownMs(1e15)).toBeLessThan(3000);
});

const at = (rate: number, given: Partial<Limit> = {}): Limit => ({
  rate,
  goodRate: rate,
  isProven: true,
  demand: rate,
  overloadedAtMs: 0,
  climbedFrom: rate,
  costlyClimbs: 0,
  move: "recover",
  ...given,
});

test("a climb waits until the busy answers of the last are 0.5 % of what is sent, or one in 5 s", () => {
  expect(climbCoolDownMs(at(1000), 0)).toBe(0);
  expect(climbCoolDownMs(at(1000), 10)).toBe(2000);
  // Of 10 per second 0.5 % would be one in 20 s.
  expect(climbCoolDownMs(at(10), 0.5)).toBe(2500);
});

test("a climb waits for 4 s at most, twice as long after each costly climb, up to 30 s", () => {
  const waits = [0, 1, 2, 3, 20].map((costlyClimbs) =>
    climbCoolDownMs(at(1000, { costlyClimbs }), 1e6),
  );
  expect(waits).toEqual([4000, 8000, 16_000, 30_000, 30_000]);
});

test("a climb is costly beyond 4 s of waiting, and one that is not ends the row", () => {
  const limit = at(1000, { costlyClimbs: 1 });
  expect([20, 21].map((cost) => costlyClimbsAfter(limit, cost))).toEqual([0, 2]);
});

test("busy answers cost a climb until a second after it, without the random ones", () => {
  const cost = new ClimbCost();
  cost.onAnswer(0, true, 0);
  cost.begin(1000);
  for (const sentAtMs of [999, 1000, 5000]) cost.onAnswer(sentAtMs, true, 0);
  expect(cost.busy).toBe(2);
  cost.end(6000);
  for (const sentAtMs of [6999, 7000]) cost.onAnswer(sentAtMs, true, 0);
  expect(cost.busy).toBe(3);
  cost.onAnswer(6000, false, 0.5);
  expect(cost.busy).toBe(2.5);
  cost.begin(8000);
  expect(cost.busy).toBe(0);
});
