import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClosedLoop } from "../../../test/closed-loop.ts";
import type { LimitDecision } from "../algorithm.ts";
import type { Outcome } from "../outcome.ts";
import { RfcLimit } from "./rfc-limit.ts";
import type { RfcLimitOptions } from "./rfc-limit.ts";

interface Answer {
  readonly atMs?: number;
  readonly rttMs?: number;
  readonly outcome?: Outcome;
  /** In use when it came, itself included. */
  readonly inUse?: number;
}

/** A limit that has seen one answer, of 100 ms, at the instant 100. */
function setUp(options: Partial<RfcLimitOptions> = {}) {
  const limit = new RfcLimit(options);
  const answer = (given: Answer): LimitDecision | undefined => {
    const { atMs = 200, rttMs = 100, outcome = "ok", inUse = limit.limit } = given;
    return limit.onEnd({
      startedAtMs: atMs - rttMs,
      endedAtMs: atMs,
      outcome,
      weight: 1,
      inFlightAtStart: inUse,
      inFlight: inUse - 1,
    });
  };
  answer({ atMs: 100 });
  return { limit, answer };
}

test.each([
  { name: "as fast as the mean: one more", answer: {}, limit: 11, cause: "room" },
  { name: "faster: one more", answer: { rttMs: 99 }, limit: 11, cause: "room" },
  { name: "slower: half", answer: { rttMs: 101 }, limit: 5, cause: "slower" },
  { name: "pushed back: half", answer: { outcome: "busy" }, limit: 5, cause: "busy" },
  { name: "failed: half", answer: { outcome: "failed" }, limit: 5, cause: "busy" },
  { name: "in use less: one more than that", answer: { inUse: 4 }, limit: 5, cause: "room" },
  { name: "in use more: one more than the limit", answer: { inUse: 30 }, limit: 11, cause: "room" },
] as const)("$name", ({ answer: given, limit: after, cause }) => {
  const { limit, answer } = setUp({ initialLimit: 10 });
  expect(answer(given)).toMatchObject({ limitBefore: 10, limit: after, cause });
  expect(limit.limit).toBe(after);
});

test.each([
  [1, 1],
  [2, 1],
  [3, 2],
  [10, 5],
  [11, 6],
  [200, 100],
])("half of %d, rounded up, is %d", (initialLimit, half) => {
  const { limit, answer } = setUp({ initialLimit });
  answer({ outcome: "busy" });
  expect(limit.limit).toBe(half);
});

test("at its maximum it stays", () => {
  const { limit, answer } = setUp({ initialLimit: 10, maxLimit: 10 });
  expect(answer({})).toMatchObject({ limit: 10, cause: "steady" });
  expect(limit.limit).toBe(10);
});

test.each([
  { rttMs: 100, limit: 11, cause: "room" },
  { rttMs: 101, limit: 10, cause: "steady" },
  { rttMs: 120, limit: 10, cause: "steady" },
  { rttMs: 121, limit: 5, cause: "slower" },
])("$rttMs ms against 100 with 20 tolerated: $cause", ({ rttMs, limit: after, cause }) => {
  const { answer } = setUp({ initialLimit: 10, toleranceMs: 20 });
  expect(answer({ rttMs })).toMatchObject({ limit: after, cause });
});

describe("once per round trip", () => {
  test("answers before the mean round trip is over decide nothing", () => {
    const { limit, answer } = setUp({ initialLimit: 64 });
    expect(answer({ atMs: 199, outcome: "busy" })).toBeUndefined();
    expect(answer({ atMs: 200, outcome: "busy" })).toBeDefined();
    for (const atMs of [200, 250, 299])
      expect(answer({ atMs, outcome: "busy" }), `${atMs}`).toBeUndefined();
    expect(answer({ atMs: 300, outcome: "busy" })).toBeDefined();
    expect(limit.limit).toBe(16);
  });

  test("waits for the mean as it was before the answer that decided", () => {
    const { answer } = setUp({ ewmaAlpha: 0.5 });
    expect(answer({ atMs: 300, rttMs: 300 })).toBeDefined();
    expect(answer({ atMs: 399, rttMs: 10 })).toBeUndefined();
    expect(answer({ atMs: 400, rttMs: 10 })).toBeDefined();
  });

  test("grows by one in a round trip", () => {
    const limit = new RfcLimit();
    const loop = new ClosedLoop(limit, () => ({ afterMs: 100, outcome: "ok" }));
    loop.run(3050);
    expect(limit.limit).toBe(30);
  });
});

test("every answer moves the mean, also one that decides nothing", () => {
  const { answer } = setUp({ initialLimit: 10, ewmaAlpha: 0.5 });
  answer({ atMs: 150, rttMs: 200 });
  expect(answer({ atMs: 200, rttMs: 150 })).toMatchObject({ limit: 11, cause: "room" });
});

test("an attempt that tells nothing changes nothing", () => {
  const one = setUp({ initialLimit: 10 });
  const other = setUp({ initialLimit: 10 });
  expect(one.answer({ atMs: 200, rttMs: 5000, outcome: "ignored" })).toBeUndefined();
  for (const atMs of [200, 300, 400]) expect(one.answer({ atMs })).toEqual(other.answer({ atMs }));
});

test("lives between 1 and a few as soon as answers differ", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 90, max: 110 }), { minLength: 50 }), (rttsMs) => {
      const limit = new RfcLimit();
      let at = 0;
      const peer = () => ({ afterMs: rttsMs[at++ % rttsMs.length] ?? 100, outcome: "ok" as const });
      const loop = new ClosedLoop(limit, peer);
      loop.run(20_000);
      const limits = loop.decisions.map((decision) => decision.limit);
      expect(limits.reduce((sum, each) => sum + each, 0) / limits.length).toBeLessThan(6);
    }),
    { numRuns: 20 },
  );
});

test.each([
  { maxLimit: 0 },
  { initialLimit: 0 },
  { initialLimit: 201 },
  { ewmaAlpha: -1 },
  { toleranceMs: -1 },
])("refuses %j", (options) => {
  expect(() => new RfcLimit(options)).toThrow(/must be/);
});
