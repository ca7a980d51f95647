import { expect, test } from "vitest";
import { trialMs } from "./trial.ts";

test("a trial is twice as long as the last program lived, from 500 ms to startMs", () => {
  expect([0, 100, 400, 2_000, 9_000].map((livedMs) => trialMs(livedMs, 10_000))).toEqual([
    500, 500, 800, 4_000, 10_000,
  ]);
  expect(trialMs(300, 0)).toBe(500);
});
