import fc from "fast-check";
import { expect, test } from "vitest";
import { restMs } from "./rest.ts";

const DAY_MS = 86_400_000;

test("the longer a peer was busy, the longer it is left alone, by every second up to a day", () => {
  fc.assert(
    fc.property(fc.nat(DAY_MS), fc.integer({ min: 1000, max: DAY_MS }), (busyForMs, moreMs) => {
      expect(restMs(busyForMs + moreMs)).toBeGreaterThan(restMs(busyForMs));
    }),
  );
});

test("a rest is a quarter of a second at least, and never three", () => {
  expect(restMs(0)).toBe(250);
  expect(restMs(200_000)).toBe(1500);
  expect(restMs(1e15)).toBeLessThan(3000);
});
