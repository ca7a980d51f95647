import { ConfigError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { inheritRateLimit } from "./inherit.ts";
import { readRateLimit } from "./rate-limit.ts";

const STORE = { redisStore: { mode: "single", url: "redis://outer" } };
const OUTER = {
  max: 100,
  min: 10,
  rampUpDuration: "60s",
  store: STORE,
  modes: { goBackN: { thresholdPercentage: 80, coolDownPeriod: "3s" } },
  resumedRampUp: true,
  ttl: "10s",
};

test.each<[string, object, object]>([
  ["all of it", {}, {}],
  // Numaflow would go back to min 1, one second, relaxed and no resume.
  ["all but max", { max: 50 }, { max: 50 }],
  ["min 0", { min: 0 }, { min: 0 }],
  ["ramp-up", { rampUpDuration: "1s" }, { rampUpDuration: "1s" }],
  ["no resume", { resumedRampUp: false }, { resumedRampUp: false }],
  ["a field that is undefined", { max: undefined }, {}],
  ["ttl", { ttl: "20s" }, { ttl: "20s" }],
  ["no modes", { modes: {} }, {}],
  [
    "the same mode",
    { modes: { goBackN: { coolDownPeriod: "9s" } } },
    { modes: { goBackN: { thresholdPercentage: 80, coolDownPeriod: "9s" } } },
  ],
  ["another mode", { modes: { onlyIfUsed: {} } }, { modes: { onlyIfUsed: {} } }],
  ["another store", { store: { inMemoryStore: {} } }, { store: { inMemoryStore: {} } }],
])("an inner block takes from the outer what it leaves out: %s", (_, inner, changed) => {
  expect(inheritRateLimit(OUTER, inner)).toEqual({ ...OUTER, ...changed });
});

test("either name of the ttl hides both of the outer block", () => {
  expect(inheritRateLimit({ max: 1, ttl: "1s" }, { resumeTtl: "2s" })).toEqual({
    max: 1,
    resumeTtl: "2s",
  });
  expect(inheritRateLimit({ max: 1, resumeTtl: "1s" }, { ttl: "2s" })).toEqual({
    max: 1,
    ttl: "2s",
  });
});

test("where one block is missing the other one is all, and without any there is no limit", () => {
  expect(inheritRateLimit(OUTER, undefined)).toEqual(OUTER);
  expect(inheritRateLimit(undefined, { max: 5 })).toEqual({ max: 5 });
  expect(inheritRateLimit(undefined, undefined)).toBeUndefined();
});

test.each([
  [null, {}, "the outer rateLimit is null; it must be a map"],
  [{}, [], "the inner rateLimit is a list; it must be a map"],
])("what is no block is refused: %j and %j", (outer, inner, message) => {
  expect(() => inheritRateLimit(outer, inner)).toThrow(new ConfigError(message));
});

test.each([
  [{ modes: { relaxed: {}, scheduled: {} } }, /has relaxed and scheduled/],
  [{ modes: { goBackN: {}, relaxed: {} } }, /has goBackN and relaxed/],
  [{ modes: "relaxed" }, /modes is a text/],
  [{ modes: { goBackN: 5 } }, /goBackN is 5/],
  [{ min: 200 }, /min is 200; it must be at most max, 100/],
])("what is wrong in the inner block is not hidden by the outer: %j", (inner, message) => {
  expect(() => readRateLimit(inheritRateLimit(OUTER, inner))).toThrow(message);
});

test("two blocks of any JSON give one that can be read or refused, and neither is changed", () => {
  const json = fc.dictionary(
    fc.constantFrom("max", "min", "modes", "ttl", "resumeTtl", "store", "__proto__"),
    fc.oneof(fc.jsonValue(), fc.constantFrom({ goBackN: {} }, { relaxed: {} }, 5, "1s")),
  );
  fc.assert(
    fc.property(json, json, (outer, inner) => {
      const before = JSON.stringify([outer, inner]);
      try {
        readRateLimit(inheritRateLimit(outer, inner));
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
      }
      expect(JSON.stringify([outer, inner])).toBe(before);
    }),
    { numRuns: 1000 },
  );
});
