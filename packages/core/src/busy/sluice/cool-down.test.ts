import fc from "fast-check";
import { expect, test } from "vitest";
import { coolDownMs } from "./cool-down.ts";

const DAY_MS = 86_400_000;

test("the longer a peer was busy, the longer the cool-down, by every second up to a day", () => {
  fc.assert(
    fc.property(fc.nat(DAY_MS), fc.integer({ min: 1000, max: DAY_MS }), (busyForMs, moreMs) => {
      expect(coolDownMs(busyForMs + moreMs)).toBeGreaterThan(coolDownMs(busyForMs));
    }),
  );
});

test("a cool-down is a quarter of a second at least, and never three seconds", () => {
  expect(coolDownMs(0)).toBe(250);
  expect(coolDownMs(200_000)).toBe(1500);
  expect(coolDownMs(1e15)).toBeLessThan(3000);
});
