import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { checkTiming, DEFAULT_TIMING } from "./timing.ts";
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
    { leaseMs: 2999 },
    /^leaseMs is 2999; it must be at least 4 × \(syncIntervalMs \+ timeoutMs\), 3000$/,
  ],
  [{ timeoutMs: 751 }, /^leaseMs is 5000; it must be at least .*, 5004$/],
  [{ syncIntervalMs: 1001 }, /^leaseMs is 5000; it must be at least .*, 5004$/],
  [{ staleMs: 6249 }, /^staleMs is 6249; it must be at least 1.25 × leaseMs, 6250$/],
  [{ leaseMs: 5201 }, /^staleMs is 6500; it must be at least 1.25 × leaseMs, 6501.25$/],
];

test.each(refused)("%j is refused with the reason", (part, message) => {
  const timing = { ...DEFAULT_TIMING, ...part };
  expect(() => checkTiming(timing)).toThrow(ConfigError);
  expect(() => checkTiming(timing)).toThrow(message);
});

const accepted: readonly Partial<Timing>[] = [
  { leaseMs: 3000 },
  { timeoutMs: 750 },
  { syncIntervalMs: 1000 },
  { staleMs: 6250 },
  { staleMs: 86_400_000 },
  { syncIntervalMs: 1, timeoutMs: 1, leaseMs: 8, staleMs: 10 },
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

test("whatever is accepted leaves room for four failed syncs in a lease and for clocks that drift", () => {
  const ms = fc.integer({ min: 1, max: 20_000 });
  const timings = fc.record({ syncIntervalMs: ms, leaseMs: ms, staleMs: ms, timeoutMs: ms });
  fc.assert(
    fc.property(timings, (timing) => {
      const { syncIntervalMs, leaseMs, staleMs, timeoutMs } = timing;
      const isSound = leaseMs >= 4 * (syncIntervalMs + timeoutMs) && staleMs >= 1.25 * leaseMs;
      if (isSound) expect(checkTiming(timing)).toBe(timing);
      else expect(() => checkTiming(timing)).toThrow(ConfigError);
    }),
  );
});
