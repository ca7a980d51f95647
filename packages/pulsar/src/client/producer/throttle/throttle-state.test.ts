import * as fc from "fast-check";
import { expect, test } from "vitest";
import { ThrottleState } from "./throttle-state.ts";

test("throttled time is counted once, by reason, and only up to the end of each pause", () => {
  const state = new ThrottleState();
  state.onCommand({ throttlingReason: 0, pauseForMillis: 100n }, 0);
  expect(state.throttledMs(40)).toBe(40);
  state.onCommand({ throttlingReason: 1, pauseForMillis: 100n }, 50);
  // The alarm rings late: the pause ended at 150 all the same.
  expect(state.throttledMs(170)).toBe(150);
  expect(state.pauseLeftMs(170)).toBe(0);
  expect(state.onDue(170)).toEqual([
    { type: "unthrottled", reason: "group-rate", throttledMs: 100 },
  ]);
  expect([...state.throttledMsByReason(500)]).toEqual([
    ["topic-rate", 50],
    ["group-rate", 100],
  ]);
});

test("a connection reason that comes after an unnoticed end of a pause is remembered", () => {
  const state = new ThrottleState();
  state.onCommand({ throttlingReason: 0, pauseForMillis: 100n }, 0);
  expect(state.onCommand({ throttlingReason: 3, pauseForMillis: 0n }, 120)).toEqual([
    { type: "unthrottled", reason: "topic-rate", throttledMs: 100 },
    { type: "throttled", reason: "memory", pauseMs: 0 },
  ]);
  expect(state.pauseLeftMs(120)).toBe(0);
  expect(state.dueAtMs).toBe(1_120);
});

test("a receipt ends what is remembered, and no pause", () => {
  const state = new ThrottleState();
  state.onCommand({ throttlingReason: 2, pauseForMillis: 0n }, 0);
  expect(state.onReceipt(30)).toHaveLength(1);
  state.onCommand({ throttlingReason: 0, pauseForMillis: 100n }, 30);
  expect(state.onReceipt(40)).toEqual([]);
  expect(state.pauseLeftMs(40)).toBe(90);
});

test("the total is the sum of the reasons and of the events, never falls, and never exceeds the time", () => {
  const step = fc.record({
    kind: fc.constantFrom("command", "receipt", "due", "end"),
    throttlingReason: fc.integer({ min: 0, max: 6 }),
    pauseForMillis: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: 2_000n })),
    afterMs: fc.integer({ min: 0, max: 1_500 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const state = new ThrottleState();
      let nowMs = 0;
      let told = 0;
      let last = 0;
      let running = 0;
      for (const { kind, afterMs, ...command } of [
        ...steps,
        { kind: "end", throttlingReason: 0, pauseForMillis: 0n, afterMs: 0 },
      ]) {
        nowMs += afterMs;
        const changes =
          kind === "command"
            ? state.onCommand(command, nowMs)
            : kind === "receipt"
              ? state.onReceipt(nowMs)
              : kind === "due"
                ? state.onDue(nowMs)
                : state.end(nowMs);
        for (const change of changes) {
          running += change.type === "throttled" ? 1 : -1;
          if (change.type === "unthrottled") told += change.throttledMs;
        }
        expect(running).toBe(state.isActive ? 1 : 0);
        const total = state.throttledMs(nowMs);
        expect(total).toBeGreaterThanOrEqual(last);
        expect(total).toBeLessThanOrEqual(nowMs);
        const byReason = [...state.throttledMsByReason(nowMs).values()];
        expect(byReason.reduce((sum, ms) => sum + ms, 0)).toBe(total);
        last = total;
      }
      expect(told).toBe(last);
    }),
  );
});
