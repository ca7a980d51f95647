import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { Backoff } from "./backoff.ts";

test("pauses double from 100 ms to 10 s, minus up to 20 % jitter, and start over after a reset", () => {
  const backoff = new Backoff(new SeededRandom(1));
  const full = [100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000, 10_000];
  for (const pauseMs of full) {
    const drawn = backoff.nextMs();
    expect(drawn).toBeGreaterThan(pauseMs * 0.8);
    expect(drawn).toBeLessThanOrEqual(pauseMs);
  }
  backoff.reset();
  expect(backoff.nextMs()).toBeLessThanOrEqual(100);
});
