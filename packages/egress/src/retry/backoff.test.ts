import { ConfigError, InvariantError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { backoffMs, requireBackoff } from "./backoff.ts";

const MOST = { next: () => 1 - 2 ** -53 };
const LEAST = { next: () => 0 };
const HALF = { next: () => 0.5 };

test("the bound doubles from 100 ms to 30 s, and the draw is even below it", () => {
  const attempts = [1, 2, 3, 4, 9, 10, 100, 5000];
  expect(attempts.map((attempt) => backoffMs(attempt, {}, HALF))).toEqual([
    50, 100, 200, 400, 12_800, 15_000, 15_000, 15_000,
  ]);
  expect(backoffMs(3, {}, LEAST)).toBe(0);
  expect(backoffMs(3, {}, MOST)).toBeCloseTo(400, 9);
});

test("settings move the bound", () => {
  const options = { baseMs: 10, factor: 3, maxMs: 50 };
  expect([1, 2, 3].map((attempt) => backoffMs(attempt, options, HALF))).toEqual([5, 15, 25]);
});

const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

test("a delay is between nothing and the bound, which never falls", () => {
  const options = fc
    .record({
      baseMs: fc.nat(1000),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      moreMs: fc.nat(100_000),
    })
    .map(({ baseMs, factor, moreMs }) => ({ baseMs, factor, maxMs: baseMs + moreMs }));
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000 }), options, unit, (attempt, settings, drawn) => {
      requireBackoff(settings);
      const random = { next: () => drawn };
      const ms = backoffMs(attempt, settings, random);
      expect(ms).toBeGreaterThanOrEqual(0);
      expect(ms).toBeLessThanOrEqual(settings.maxMs);
      expect(backoffMs(attempt + 1, settings, random)).toBeGreaterThanOrEqual(ms);
    }),
  );
});

test.each([0, -1, Number.NaN])("there is no attempt %d", (attempt) => {
  expect(() => backoffMs(attempt, {}, HALF)).toThrow(InvariantError);
});

test.each([
  { baseMs: -1 },
  { factor: 0.5 },
  { factor: Number.NaN },
  { maxMs: 99 },
  { maxMs: 1e12 },
])("%j is refused", (options) => {
  expect(() => requireBackoff(options)).toThrow(ConfigError);
});
