import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { systemTimer, threadClock } from "./system.ts";

// The only real time in the suite.

test("the real timer never wakes early, and an abort ends a sleep of months", async () => {
  const beforeMs = systemTimer.now();
  await systemTimer.sleep(3);
  expect(systemTimer.now() - beforeMs).toBeGreaterThanOrEqual(3);

  const controller = new AbortController();
  const asleep = systemTimer.sleep(100 * 86_400_000, controller.signal);
  controller.abort("stop");
  await expect(asleep).rejects.toBe("stop");
  await expect(systemTimer.sleep(1, controller.signal)).rejects.toBe("stop");
});

test("a sleep that has ended no longer listens to its signal", async () => {
  const { signal } = new AbortController();
  const asleep = systemTimer.sleep(1, signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await asleep;
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

test("the clock of all threads runs as fast as the clock of one", async () => {
  const clocks = [threadClock, systemTimer];
  const before = clocks.map((clock) => clock.now());
  await systemTimer.sleep(3);
  const [machineMs = 0, ownMs = 0] = clocks.map((clock, i) => clock.now() - (before[i] ?? 0));
  expect(machineMs).toBeGreaterThanOrEqual(3);
  expect(Math.abs(machineMs - ownMs)).toBeLessThan(1000);
});
