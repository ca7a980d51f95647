import { expect, test } from "vitest";
import { LIMIT_MAX } from "./busy-rule.ts";
import type { BusyRule } from "./busy-rule.ts";
import { PerSecondBusyThrottle } from "./per-second-throttle.ts";
import { proseRule } from "./prose-rule.ts";
import { tableRule } from "./table-rule.ts";

/** A throttle on a clock that starts anywhere. */
function setUp(rule: BusyRule) {
  const startMs = 123_456.5;
  let nowMs = startMs;
  const throttle = new PerSecondBusyThrottle({ now: () => nowMs }, rule);
  /** Sends `count` at most at `atMs` after the start; how many went, and `busy` came back. */
  const send = (atMs: number, count: number, busy = 0): number => {
    nowMs = startMs + atMs;
    let sent = 0;
    for (let i = 0; i < count; i++) if (throttle.trySend() === undefined) sent++;
    for (let i = 0; i < busy; i++) throttle.onAnswer(nowMs, true);
    return sent;
  };
  /** The limit at `atMs` after the start. */
  const limitAt = (atMs: number): number => {
    nowMs = startMs + atMs;
    return throttle.state().limit;
  };
  return { throttle, send, limitAt };
}

test("what a second brought moves the limit when it has passed and not before", () => {
  const { throttle, send, limitAt } = setUp(tableRule({ rate: 3 }));
  expect(throttle.state()).toEqual({ limit: LIMIT_MAX, move: "open" });
  send(0, 100, 100);
  expect(limitAt(999)).toBe(LIMIT_MAX);
  expect(limitAt(1000)).toBeCloseTo(38.147, 3);
  expect(throttle.state().move).toBe("cut");
});

test("no more is sent in a second than its limit, and the rest is refused for the peer", () => {
  const { throttle, send } = setUp(tableRule({ rate: 3 }));
  send(0, 100, 100);
  expect(send(1000, 100)).toBe(38);
  expect(throttle.trySend()).toBe("peer-busy");
  expect(send(1999, 1)).toBe(0);
  expect(send(2000, 1000)).toBe(152);
});

test("the pause ends with the second, and is none while the second has room", () => {
  const { throttle, send } = setUp(tableRule({ rate: 3 }));
  expect(throttle.pauseMs()).toBe(0);
  send(0, 100, 100);
  send(1250, 37);
  expect(throttle.pauseMs()).toBe(0);
  send(1250, 1);
  expect(throttle.pauseMs()).toBe(750);
});

test("seconds without a call count as quiet ones", () => {
  const { send, limitAt } = setUp(tableRule({ rate: 3 }));
  send(0, 100, 100);
  expect(Math.trunc(limitAt(4700))).toBe(2441);
});

test.each([
  ["tables, rate 3", tableRule({ rate: 3 }), LIMIT_MAX],
  ["tables, value 200", tableRule({ value: 200 }), LIMIT_MAX],
  ["prose, rate 3", proseRule({ rate: 3 }), LIMIT_MAX],
  ["prose, no growth", proseRule({ rate: 1 }), 50],
])("after a freeze of decades the limit is at once where it would be: %s", (_, rule, limit) => {
  const { send, limitAt } = setUp(rule);
  send(0, 100, 100);
  expect(limitAt(1e12)).toBe(limit);
});

test("a clock that steps back starts no new second", () => {
  const { send, limitAt } = setUp(tableRule({ rate: 3 }));
  send(0, 100, 100);
  const limit = limitAt(5000);
  expect([limitAt(0), limitAt(4000), limitAt(5999)]).toEqual([limit, limit, limit]);
});

test("busy answers that come a second late still cut", () => {
  const { send, limitAt } = setUp(proseRule({ rate: 3 }));
  send(0, 100);
  send(1100, 0, 100);
  expect(limitAt(2000)).toBe(50);
});

test("late answers are judged by the second that had more requests, and older ones by none", () => {
  const busier = setUp(proseRule({ rate: 3 }));
  busier.send(0, 10);
  busier.send(1000, 50, 51);
  expect(busier.limitAt(2000)).toBe(25);
  const older = setUp(proseRule({ rate: 3 }));
  older.send(0, 100);
  older.limitAt(1500);
  older.send(2100, 0, 100);
  expect(older.limitAt(3000)).toBe(LIMIT_MAX);
});

// The prose halves what was sent, which is nothing in a second in which only a late answer comes;
// a limit of 0 would then stay, because no factor makes it grow.
test("a busy answer to a request of an earlier second does not close the way for ever", () => {
  const { send } = setUp(proseRule({ rate: 3 }));
  send(0, 10);
  send(1500, 0, 1);
  expect(send(60_000, 1)).toBe(1);
});
