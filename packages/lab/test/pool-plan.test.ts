import { expect, test } from "vitest";
import { drawPlan } from "./pool/plan.ts";
import type { Plan } from "./pool/plan.ts";
import { runPlan } from "./pool/run-plan.ts";
import { storyOf } from "./pool/story.ts";

test("a seed gives the same run every time, and another one another", () => {
  const traces = [5, 5, 6].map((seed) => runPlan(drawPlan(seed), { isTraced: true }).trace);
  expect(traces[0]?.length).toBeGreaterThan(10);
  expect(traces[0]).toEqual(traces[1]);
  expect(traces[0]).not.toEqual(traces[2]);
});

test("the wall clocks of processes change nothing at all", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const plan = drawPlan(seed);
    const stepped: Plan = {
      ...plan,
      events: plan.events.flatMap((event) => [
        { atMs: event.atMs, action: { do: "clock-step", name: "m0", byMs: 3e7 } },
        event,
      ]),
    };
    const [found, expected] = [stepped, plan].map((each) => runPlan(each, { isTraced: true }));
    expect(found?.trace).toEqual(expected?.trace);
  }
});

/** The store's clock leaps within every lease: more than pool time absorbs. */
const BEYOND: Plan = {
  ...drawPlan(1),
  membership: {
    timing: { syncIntervalMs: 100, leaseMs: 750, staleMs: 938, timeoutMs: 50 },
    maxMembers: 64,
    onStoreLoss: "closed",
    joinOn: "agreement",
    share: "equal",
    needsRank: false,
  },
  rules: {
    rateLimit: { max: 60, min: 60, rampUpMs: 1000, mode: { kind: "relaxed" } },
    pacing: "smooth",
    division: "rotate",
  },
  weather: {
    lossRatio: 0,
    slowRatio: 0.1,
    slowMs: 20,
    isOrdered: true,
    lateRatio: 0,
    lateMs: 0,
    drift: 1,
  },
  events: [
    { atMs: 0, action: { do: "join", id: "a" } },
    { atMs: 10, action: { do: "join", id: "b" } },
    { atMs: 20, action: { do: "join", id: "c" } },
    { atMs: 2500, action: { do: "leave", name: "c" } },
    { atMs: 5000, action: { do: "pause", name: "b", forMs: 700 } },
    ...Array.from({ length: 40 }, (_, i) => ({
      atMs: 5010 + i * 10,
      action: { do: "store-clock-step", byMs: 140 } as const,
    })),
  ],
};

test("a broken promise is reported with only the events that it takes", () => {
  const story = storyOf(BEYOND);
  expect(story).toMatch(/^seed 1: after [\d.]+ s the shares add up to [\d.]+ of the ceiling/);
  const lines = story.split("\n").slice(3);
  expect(lines.filter((line) => line.includes("join"))).toHaveLength(2);
  expect(lines.filter((line) => line.includes("leave"))).toHaveLength(0);
  expect(lines.length).toBeLessThan(20);
});
