import fc from "fast-check";
import { expect, test } from "vitest";
import { desiredReplicas } from "./desired-replicas.ts";
import type { ScaleState } from "./desired-replicas.ts";
import { measureCapacity } from "./measured-capacity.ts";

const STATE: ScaleState = { replicas: 4, backlog: 0, perSecond: 400, ceiling: undefined };

test.each<[string, Partial<ScaleState>, number, string]>([
  ["a steady flow keeps its replicas", {}, 4, "steady"],
  ["a backlog adds some, two at once", { backlog: 100_000 }, 6, "backlog"],
  ["a backlog of a few seconds adds one", { backlog: 1000 }, 5, "backlog"],
  ["a backlog that is read within a second adds none", { backlog: 400 }, 4, "steady"],
  ["replicas with little to do are removed, two at once", { perReplica: 500 }, 2, "idle"],
  ["a removal leaves a fifth of the capacity free", { perReplica: 160 }, 4, "steady"],
  ["what fits with a fifth to spare goes", { perReplica: 170 }, 3, "idle"],
  ["while a backlog waits none are removed", { perReplica: 500, backlog: 2000 }, 4, "steady"],
  ["without a known capacity none are removed", { perSecond: 1 }, 4, "steady"],
  ["an unknown backlog counts as none", { backlog: undefined }, 4, "steady"],
  ["nothing read and nothing waiting leaves min", { perSecond: 0, replicas: 2 }, 1, "bounds"],
  ["a backlog that nothing reads keeps the replicas", { perSecond: 0, backlog: 9 }, 4, "backlog"],
  [
    "a backlog without replicas starts one",
    { replicas: 0, perSecond: 0, backlog: 9 },
    1,
    "backlog",
  ],
  ["a ceiling that is used up adds none", { backlog: 1e6, ceiling: 400 }, 4, "ceiling"],
  ["a ramp that is used up adds none", { backlog: 1e6, ceiling: 410 }, 4, "ceiling"],
  ["a ceiling that is used up removes none either", { ceiling: 400 }, 4, "ceiling"],
  ["room below the ceiling adds what it is worth", { backlog: 1e6, ceiling: 500 }, 5, "backlog"],
  ["max is kept", { replicas: 50, perSecond: 5000, backlog: 1e6 }, 50, "bounds"],
])("%s", (_, change, replicas, reason) => {
  expect(desiredReplicas({ ...STATE, ...change })).toEqual({ replicas, reason });
});

test("below min the ceiling does not count: all of min are asked for", () => {
  const state = { ...STATE, replicas: 1, perSecond: 100, ceiling: 100, backlog: 1e6 };
  expect(desiredReplicas(state, { min: 3 })).toEqual({ replicas: 3, reason: "bounds" });
});

test("no vertex at its ceiling is ever given more replicas than it has, or than min", () => {
  const states = fc.record({
    replicas: fc.integer({ min: 1, max: 100 }),
    backlog: fc.option(fc.integer({ min: 0, max: 1e9 }), { nil: undefined }),
    perSecond: fc.integer({ min: 1, max: 1e6 }),
    perReplica: fc.option(fc.integer({ min: 1, max: 1e6 }), { nil: undefined }),
  });
  fc.assert(
    fc.property(states, fc.integer({ min: 0, max: 20 }), (state, min) => {
      const ceiling = state.perSecond;
      const { replicas } = desiredReplicas({ ...state, ceiling }, { min, max: 1000 });
      expect(replicas).toBeLessThanOrEqual(Math.max(min, state.replicas));
      expect(replicas).toBeGreaterThanOrEqual(min);
    }),
  );
});

const STATES = fc.record({
  replicas: fc.integer({ min: 1, max: 100 }),
  backlog: fc.option(fc.integer({ min: 0, max: 1e6 }), { nil: undefined }),
  perSecond: fc.integer({ min: 0, max: 1e5 }),
  perReplica: fc.option(fc.integer({ min: 1, max: 1e4 }), { nil: undefined }),
  ceiling: fc.option(fc.integer({ min: 1, max: 1e5 }), { nil: undefined }),
});
const WIDE = { min: 0, max: 1000, stepMax: 1000 };

test("none is removed while a backlog waits, or while nothing is known of a replica and messages flow", () => {
  fc.assert(
    fc.property(STATES, (state) => {
      const { replicas } = desiredReplicas(state, WIDE);
      const { perSecond, backlog = 0 } = state;
      if (replicas >= state.replicas) return;
      expect(backlog).toBeLessThanOrEqual(perSecond);
      if (perSecond > 0) expect(state.perReplica).toBeDefined();
    }),
  );
});

test("the replicas that stay have a fifth to spare, so that the same rate does not bring others back", () => {
  fc.assert(
    fc.property(STATES, (state) => {
      const { replicas } = desiredReplicas(state, WIDE);
      if (replicas >= state.replicas || state.perSecond === 0) return;
      expect(state.perSecond).toBeLessThanOrEqual(0.8 * replicas * (state.perReplica ?? 0) + 1e-6);
      const after = desiredReplicas({ ...state, replicas }, WIDE);
      expect(after.replicas).toBe(replicas);
    }),
  );
});

test("replicas are added only for a backlog, and no more than the ceiling can use", () => {
  fc.assert(
    fc.property(STATES, (state) => {
      const { replicas } = desiredReplicas(state, WIDE);
      if (replicas <= state.replicas) return;
      const { backlog = 0, perSecond, perReplica = perSecond / state.replicas, ceiling } = state;
      expect(backlog).toBeGreaterThan(perSecond);
      if (ceiling !== undefined) expect((replicas - 1) * perReplica).toBeLessThan(ceiling);
    }),
  );
});

interface Fleet {
  readonly capacity: number;
  readonly load: number;
  readonly ceilingAt: (second: number) => number;
}

/** Replicas of equal capacity that follow the decision every 10 s; answers their numbers and the backlogs. */
function simulated(
  { capacity, load, ceilingAt }: Fleet,
  first: { replicas: number; backlog: number },
) {
  let { replicas, backlog } = first;
  let measured: number | undefined;
  const sizes: number[] = [];
  const backlogs: number[] = [];
  for (let second = 0; second < 1_800; second++) {
    const ceiling = ceilingAt(second);
    const perSecond = Math.min(replicas * capacity, ceiling, load + backlog);
    backlog += load - perSecond;
    measured = measureCapacity(measured, {
      perSecond: perSecond / replicas,
      backlog: backlog / replicas,
      isHeld: perSecond >= 0.95 * ceiling,
    });
    if (second % 10 === 9)
      ({ replicas } = desiredReplicas({
        replicas,
        backlog,
        perSecond,
        perReplica: measured,
        ceiling,
      }));
    sizes.push(replicas);
    backlogs.push(backlog);
  }
  return { sizes, backlogs };
}

const LOADS = fc.record({
  capacity: fc.integer({ min: 10, max: 1_000 }),
  /** Of one replica's capacity. */
  busy: fc.double({ min: 0.05, max: 20, noNaN: true }),
});

test("a fleet grows until its backlog is gone, then shrinks to what the rate needs, and stays there", () => {
  fc.assert(
    fc.property(LOADS, ({ capacity, busy }) => {
      const load = busy * capacity;
      const fleet = { capacity, load, ceilingAt: () => Infinity };
      const { sizes, backlogs } = simulated(fleet, {
        replicas: 1,
        backlog: 60 * load + capacity * 60,
      });
      expect(backlogs.at(-1)).toBeLessThanOrEqual(load);
      const needed = Math.max(1, Math.ceil(load / (0.8 * capacity) - 1e-6));
      expect(sizes.at(-1)).toBeLessThanOrEqual(needed);
      expect(sizes.at(-1)).toBeGreaterThanOrEqual(Math.floor(load / capacity));
      expect(new Set(sizes.slice(-600)).size).toBe(1);
    }),
    { numRuns: 100 },
  );
});

test("a fleet that its ramp or its ceiling holds back does not grow beyond what the ceiling can use", () => {
  const ceilings = fc.record({
    capacity: fc.integer({ min: 10, max: 1_000 }),
    /** Of one replica's capacity. */
    min: fc.double({ min: 0.05, max: 1, noNaN: true }),
    max: fc.double({ min: 1, max: 10, noNaN: true }),
    rampSeconds: fc.integer({ min: 1, max: 900 }),
  });
  fc.assert(
    fc.property(ceilings, ({ capacity, min, max, rampSeconds }) => {
      const ceilingAt = (second: number): number =>
        capacity * (min + (max - min) * Math.min(1, second / rampSeconds));
      const fleet = { capacity, load: 20 * capacity, ceilingAt };
      const { sizes } = simulated(fleet, { replicas: 1, backlog: 1e6 });
      const usable = (second: number): number =>
        Math.max(1, Math.ceil(ceilingAt(second) / capacity + 1e-6));
      expect(sizes.filter((size, second) => size > usable(second))).toEqual([]);
    }),
    { numRuns: 100 },
  );
});
