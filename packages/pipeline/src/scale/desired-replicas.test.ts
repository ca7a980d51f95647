import fc from "fast-check";
import { expect, test } from "vitest";
import { desiredReplicas } from "./desired-replicas.ts";
import type { ScaleState } from "./desired-replicas.ts";

const STATE: ScaleState = { replicas: 4, backlog: 0, perSecond: 400, ceiling: undefined };

test.each<[string, Partial<ScaleState>, number, string]>([
  ["a steady flow keeps its replicas", {}, 4, "steady"],
  ["a backlog adds some, two at once", { backlog: 100_000 }, 6, "backlog"],
  ["a small backlog adds one", { backlog: 1000 }, 5, "backlog"],
  ["replicas with little to do are removed, two at once", { perReplica: 500 }, 2, "idle"],
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
