import { expect, test } from "vitest";
import type { SendGate } from "../throttle/producer-throttle.ts";
import { lateErrorOf, throttledErrorOf } from "./late-error.ts";

const TOPIC = "persistent://public/default/orders";

function gateWith(pauseLeftMs: number): SendGate {
  const unused = { hasRoom: () => true, onReceipt: () => undefined };
  return { pauseLeftMs, throttledMs: 0, lastReason: "topic-rate", ...unused };
}

test.each<[waitedMs: number, throttledMs: number, code: string]>([
  [1_000, 0, "DEADLINE"],
  [1_000, 799, "DEADLINE"],
  [1_000, 800, "DEADLINE"],
  [1_000, 801, "THROTTLED"],
  [1_000, 1_000, "THROTTLED"],
  [30_000, 24_000, "DEADLINE"],
  [30_000, 24_001, "THROTTLED"],
  // A late timer: more than the timeout has passed.
  [1_500, 1_000, "DEADLINE"],
  [1_500, 1_250, "THROTTLED"],
  [1, 1, "THROTTLED"],
  [0, 0, "DEADLINE"],
])("a wait of %d ms, throttled for %d ms of it, is the error %s", (waitedMs, throttledMs, code) => {
  const late = {
    topic: TOPIC,
    sendTimeoutMs: 1_000,
    waitedMs,
    throttledMs,
    pending: 3,
    waiting: 2,
    mayBeStored: true,
  };
  const error = lateErrorOf(late, gateWith(40));
  expect(error.code).toBe(code);
  expect(error.message).toContain(`a message of ${TOPIC} was not stored within 1000 ms`);
  expect(error.message).toContain("3 of its messages have no receipt and 2 wait for room");
  if (code === "THROTTLED")
    expect(error).toMatchObject({ reason: "topic-rate", pauseLeftMs: 40, mayBeStored: true });
});

test.each<[pauseLeftMs: number, sendTimeoutMs: number, isRefused: boolean]>([
  [0, 1_000, false],
  [1_000, 1_000, false],
  [1_000.5, 1_000, true],
  [2 ** 64, Infinity, false],
])("with %d ms of a pause left and a send timeout of %d ms a message is refused: %s", (...row) => {
  const [pauseLeftMs, sendTimeoutMs, isRefused] = row;
  const error = throttledErrorOf({ topic: TOPIC, sendTimeoutMs }, gateWith(pauseLeftMs));
  expect(error !== undefined).toBe(isRefused);
});
