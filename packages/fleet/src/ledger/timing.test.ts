import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkTiming, DEFAULT_TIMING, ledgerTimes } from "./timing.ts";
import type { Timing } from "./timing.ts";

test("the defaults are accepted as they are", () => {
  expect(checkTiming(DEFAULT_TIMING)).toBe(DEFAULT_TIMING);
});

const refused: readonly (readonly [Partial<Timing>, RegExp])[] = [
  [{ syncIntervalMs: 0 }, /^syncIntervalMs is 0; it must be whole milliseconds up to a day$/],
  [{ syncIntervalMs: 0.5 }, /^syncIntervalMs is 0.5; /],
  [{ leaseMs: Number.NaN }, /^leaseMs is NaN; /],
  [{ leaseMs: Number.POSITIVE_INFINITY }, /^leaseMs is Infinity; /],
  [{ staleMs: 86_400_001 }, /^staleMs is 86400001; /],
  [{ timeoutMs: -250 }, /^timeoutMs is -250; /],
  [
    { leaseMs: 3749 },
    /^leaseMs is 3749; it must be at least 5 × \(syncIntervalMs \+ timeoutMs\), 3750$/,
  ],
  [{ timeoutMs: 501 }, /^leaseMs is 5000; it must be at least .*, 5005$/],
  [{ syncIntervalMs: 751 }, /^leaseMs is 5000; it must be at least .*, 5005$/],
  [
    { staleMs: 5999 },
    /^staleMs is 5999; it must be at least 1.05 × leaseMs \+ syncIntervalMs \+ timeoutMs, 6000$/,
  ],
  [{ leaseMs: 5477 }, /^staleMs is 6500; it must be at least .*, 6501$/],
];

test.each(refused)("%j is refused with the reason", (part, message) => {
  const timing = { ...DEFAULT_TIMING, ...part };
  expect(() => checkTiming(timing)).toThrow(ConfigError);
  expect(() => checkTiming(timing)).toThrow(message);
});

const accepted: readonly Partial<Timing>[] = [
  { leaseMs: 3750 },
  { timeoutMs: 500 },
  { syncIntervalMs: 750 },
  { staleMs: 6000 },
  { staleMs: 86_400_000 },
  { syncIntervalMs: 1, timeoutMs: 1, leaseMs: 10, staleMs: 13 },
];

test.each(accepted)("%j is just within what is possible", (part) => {
  const timing = { ...DEFAULT_TIMING, ...part };
  expect(checkTiming(timing)).toBe(timing);
});

test.each(Object.keys(DEFAULT_TIMING))("a timing without %s is refused", (name) => {
  const timing: Timing = { ...DEFAULT_TIMING, [name]: undefined };
  expect(() => checkTiming(timing)).toThrow(`${name} is undefined`);
  const without = Object.fromEntries(
    Object.entries(DEFAULT_TIMING).filter(([other]) => other !== name),
  );
  expect(() => checkTiming(without as typeof DEFAULT_TIMING)).toThrow(`${name} is undefined`);
});

test("whatever is accepted leaves room for a hand-over in a lease and for clocks that drift by 5 %", () => {
  const ms = fc.integer({ min: 1, max: 20_000 });
  const timings = fc.record({ syncIntervalMs: ms, leaseMs: ms, staleMs: ms, timeoutMs: ms });
  fc.assert(
    fc.property(timings, (timing) => {
      const { syncIntervalMs, leaseMs, staleMs, timeoutMs } = timing;
      const gapMs = syncIntervalMs + timeoutMs;
      const isSound = leaseMs >= 5 * gapMs && staleMs >= 1.05 * leaseMs + gapMs;
      if (isSound) expect(checkTiming(timing)).toBe(timing);
      else expect(() => checkTiming(timing)).toThrow(ConfigError);
    }),
  );
});

test("the times of the ledger follow from the timing", () => {
  expect(ledgerTimes(DEFAULT_TIMING)).toEqual({
    gapMs: 750,
    learningMs: 6000,
    silentMs: 1500,
    overdueMs: 2500,
  });
});
