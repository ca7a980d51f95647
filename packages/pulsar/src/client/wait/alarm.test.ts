import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { Alarm } from "./alarm.ts";

function rung(): { alarm: Alarm; timer: VirtualTimer; rungAtMs: number[] } {
  const timer = new VirtualTimer();
  const rungAtMs: number[] = [];
  return { alarm: new Alarm(timer, (nowMs) => rungAtMs.push(nowMs)), timer, rungAtMs };
}

test("an alarm rings once, at the last instant set", async () => {
  const { alarm, timer, rungAtMs } = rung();
  alarm.set(10);
  alarm.set(30);
  await timer.advance(20);
  alarm.set(25);
  expect(timer.sleeping).toBe(1);
  await timer.advance(100);
  expect(rungAtMs).toEqual([25]);
  expect(alarm.isSet).toBe(false);
});

test("a cleared alarm does not ring and leaves no sleep", async () => {
  const { alarm, timer, rungAtMs } = rung();
  alarm.set(10);
  alarm.clear();
  expect(timer.sleeping).toBe(0);
  alarm.set(20);
  await timer.advance(15);
  alarm.clear();
  await timer.advance(100);
  expect(rungAtMs).toEqual([]);
});

test("an alarm can be set again while it rings", async () => {
  const timer = new VirtualTimer();
  const rungAtMs: number[] = [];
  const alarm: Alarm = new Alarm(timer, (nowMs) => {
    rungAtMs.push(nowMs);
    if (nowMs < 30) alarm.set(nowMs + 10);
  });
  alarm.set(10);
  await timer.advance(100);
  expect(rungAtMs).toEqual([10, 20, 30]);
});
