import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { BackOff } from "./back-off.ts";

test("pauses double from a tenth of a second to a minute, less a fifth at most, and begin anew", () => {
  const backOff = new BackOff(new SeededRandom(1));
  const full = [100, 200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 51_200, 60_000, 60_000];
  for (const pauseMs of full) {
    const drawn = backOff.nextMs();
    expect(drawn).toBeGreaterThan(pauseMs * 0.8);
    expect(drawn).toBeLessThanOrEqual(pauseMs);
  }
  backOff.reset();
  expect(backOff.nextMs()).toBeLessThanOrEqual(100);
});
