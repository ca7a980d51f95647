import { expect, test } from "vitest";
import { proseRule } from "./prose-rule.ts";
import type { BusyRule } from "./rule.ts";
import { tableRule } from "./table-rule.ts";
import { PerSecondBusyThrottle } from "./throttle.ts";

/** A throttle on a clock that starts anywhere. */
function setUp(rule: BusyRule) {
  const startMs = 123_456.5;
  let nowMs = startMs;
  const throttle = new PerSecondBusyThrottle({ rule, clock: { now: () => nowMs } });
  /** Tries to send `count` at `atMs` after the start, gets `busy` busy answers; how many were sent. */
  const send = (atMs: number, count: number, busy = 0): number => {
    nowMs = startMs + atMs;
    let sent = 0;
    for (let i = 0; i < count; i++) if (throttle.trySend()) sent++;
    for (let i = 0; i < busy; i++) throttle.onAnswer(nowMs, true);
    return sent;
  };
  /** The limit at `atMs` after the start. */
  const limitAt = (atMs: number): number | undefined => {
    nowMs = startMs + atMs;
    return throttle.state().limit;
  };
  return { throttle, send, limitAt };
}

test("what a second brought moves the limit when it has passed and not before", () => {
  const { throttle, send, limitAt } = setUp(tableRule({ factor: 4 }));
  expect(throttle.state()).toEqual({ limit: undefined, move: "open" });
  send(0, 100, 100);
  expect(limitAt(999)).toBeUndefined();
  expect(limitAt(1000)).toBeCloseTo(38.147, 3);
  expect(throttle.state().move).toBe("cut");
});

test("no more is sent in a second than its limit", () => {
  const { throttle, send } = setUp(tableRule({ factor: 4 }));
  send(0, 100, 100);
  expect(send(1000, 100)).toBe(38);
  expect(throttle.trySend()).toBe(false);
  expect(send(1999, 1)).toBe(0);
  expect(send(2000, 1000)).toBe(152);
});

test("the pause ends with the second, and is none while the second has room", () => {
  const { throttle, send } = setUp(tableRule({ factor: 4 }));
  expect(throttle.pauseMs()).toBe(0);
  send(0, 100, 100);
  send(1250, 37);
  expect(throttle.pauseMs()).toBe(0);
  send(1250, 1);
  expect(throttle.pauseMs()).toBe(750);
});

test("the pause lasts until a second has room, also if the next ones have none", () => {
  const { throttle, send } = setUp(tableRule({ factor: 4 }));
  send(0, 100, 100);
  expect(send(1000, 100, 38)).toBe(38);
  expect([send(2000, 1), throttle.pauseMs()]).toEqual([0, 7000]);
  expect([send(8999, 1), send(9000, 1)]).toEqual([0, 1]);
});

test("seconds without a call count as quiet ones", () => {
  const { send, limitAt } = setUp(tableRule({ factor: 4 }));
  send(0, 100, 100);
  expect(limitAt(4700)).toBeCloseTo(2441.406, 3);
});

test.each([
  ["tables, factor 4", tableRule({ factor: 4 })],
  ["tables, value 200", tableRule({ value: 200 })],
  ["prose, factor 3", proseRule({ factor: 3 })],
])("after a freeze of decades the limit is at once where it would be: %s", (_, rule) => {
  const { send, limitAt } = setUp(rule);
  send(0, 100, 100);
  expect(limitAt(1e12)).toBeUndefined();
});

test("a freeze of decades costs at most a hundred thousand steps, however slow the growth", () => {
  let steps = 0;
  const rule = proseRule({ value: 0.01 });
  const { send, limitAt } = setUp((limit, second) => {
    steps++;
    return rule(limit, second);
  });
  send(0, 100, 100);
  expect(limitAt(1e12)).toBeCloseTo(50 + 1000, 3);
  expect(steps).toBe(100_001);
});

test("a clock that steps back starts no new second", () => {
  const { send, limitAt } = setUp(tableRule({ factor: 4 }));
  send(0, 100, 100);
  const limit = limitAt(5000);
  expect([limitAt(0), limitAt(4000), limitAt(5999)]).toEqual([limit, limit, limit]);
});

test("busy answers that come a second late still cut", () => {
  const { send, limitAt } = setUp(proseRule({ factor: 3 }));
  send(0, 100);
  send(1100, 0, 100);
  expect(limitAt(2000)).toBe(50);
});

test("late answers are judged by the second that had more requests, and older ones by none", () => {
  const busier = setUp(proseRule({ factor: 3 }));
  busier.send(0, 10);
  busier.send(1000, 50, 51);
  expect(busier.limitAt(2000)).toBe(25);
  const older = setUp(proseRule({ factor: 3 }));
  older.send(0, 100);
  older.limitAt(1500);
  older.send(2100, 0, 100);
  expect(older.limitAt(3000)).toBeUndefined();
});

// The prose halves what was sent, which is nothing in a second in which only a late answer comes;
// a limit of 0 would then stay, because no factor makes it grow.
test("a busy answer to a request of an earlier second does not stop sending for ever", () => {
  const { send } = setUp(proseRule({ factor: 3 }));
  send(0, 10);
  send(1500, 0, 1);
  expect(send(60_000, 1)).toBe(1);
});
