import { expect, test } from "vitest";
import { createBusyThrottle } from "./create-busy-throttle.ts";
import type { BusyRuleName, BusyThrottleOptions } from "./create-busy-throttle.ts";
import { PerSecondBusyThrottle } from "./per-second/throttle.ts";
import { SluiceBusyThrottle } from "./sluice/throttle.ts";

test("a throttle needs no options: the rule is sluice, on the real clock", () => {
  const throttle = createBusyThrottle();
  expect(throttle).toBeInstanceOf(SluiceBusyThrottle);
  expect([throttle.trySend(), throttle.pauseMs()]).toEqual([true, 0]);
  expect(createBusyThrottle({ rule: "prose" }).trySend()).toBe(true);
});

/** The limits of a second with one busy answer among 1000 requests, and of the next, quiet one. */
function limitsOf(rule: BusyRuleName): (number | undefined)[] {
  let nowMs = 0;
  const throttle = createBusyThrottle({ rule, clock: { now: () => nowMs } });
  expect(throttle).toBeInstanceOf(PerSecondBusyThrottle);
  for (let i = 0; i < 1000; i++) throttle.trySend();
  for (let i = 0; i < 20; i++) throttle.onAnswer(0, true);
  return [1000, 2000].map((atMs) => {
    nowMs = atMs;
    return throttle.state().limit;
  });
}

test("unless told otherwise the document's rules grow as the document says", () => {
  const [cut = 0, grown = 0] = limitsOf("table");
  expect([cut, grown / cut]).toEqual([(4 * 9_999_999) / 2 ** 20, 4]);
  expect(limitsOf("prose")).toEqual([500, 1500]);
});

test.each([
  [{ rule: "best" }, 'rule is "best"; it must be "sluice", "table" or "prose"'],
  [{ rule: "prose", recover: { factor: 1 } }, "never recover; use more than 1"],
  [{ recover: { factor: 3 } }, 'rule "sluice" finds its own growth; leave recover out'],
  [{ recovery: { factor: 3 } }, 'a busy throttle has no option "recovery"'],
])("options that cannot be meant are refused: %o", (options, words) => {
  expect(() => createBusyThrottle(options as BusyThrottleOptions)).toThrow(words);
});
