import { createBusyThrottle, SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { runOverload } from "./run-overload.ts";

const DURATION_S = 60;

/** Sent of offered to a service that says busy at random, whatever is sent. */
function sentRatio(offeredPerSecond: number, busyRatio: number, seed: number): number {
  const refusals = new SeededRandom(seed + 1000);
  const seconds = runOverload(
    {
      clients: [{ offeredPerSecond }],
      throttle: (clock) => createBusyThrottle({ clock }),
      service: { takes: () => refusals.next() >= busyRatio },
      capacity: [{ fromS: 0, perSecond: 2 * offeredPerSecond }],
      responseMs: () => 50,
      durationS: DURATION_S,
    },
    new SeededRandom(seed),
  );
  const sent = seconds.reduce((sum, second) => sum + second.sent, 0);
  return sent / (DURATION_S * offeredPerSecond);
}

test.each([
  [0.015, 5000],
  [0.02, 5000],
  [0.05, 1000],
  [0.05, 5000],
  [0.1, 1000],
  [0.1, 5000],
  [0.2, 5000],
])("random busy answers, %d of all, hardly throttle %d requests per second", (ratio, rate) => {
  for (const seed of [1, 2, 3]) expect(sentRatio(rate, ratio, seed)).toBeGreaterThan(0.85);
});
