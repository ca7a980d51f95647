import { ConfigError, Ramp } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { readRateLimit } from "./rate-limit.ts";
import type { RateLimitBlock, RateLimitSettings, ReadOptions } from "./rate-limit.ts";

const DEFAULTS: RateLimitSettings = {
  ramp: { max: 100, min: 1, rampUpMs: 1000, mode: { kind: "relaxed" } },
  resume: { enabled: false, ttlMs: 180_000 },
  store: undefined,
  warnings: [],
};

/** What reading says is wrong; the settings if nothing is. */
function errorOf(block: unknown, options: ReadOptions = {}): unknown {
  try {
    return readRateLimit(block, options);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

test("a block with max alone has the defaults of the schema", () => {
  expect(readRateLimit({ max: 100 })).toEqual(DEFAULTS);
});

test.each<[string, Omit<RateLimitBlock, "max">, object]>([
  ["min", { min: 10 }, { min: 10 }],
  ["min 0", { min: 0 }, { min: 0 }],
  ["min like max", { min: 100 }, { min: 100 }],
  ["a duration in seconds", { rampUpDuration: "60s" }, { rampUpMs: 60_000 }],
  ["a duration in parts", { rampUpDuration: "1m30s" }, { rampUpMs: 90_000 }],
  ["a duration in milliseconds", { rampUpDuration: "500ms" }, { rampUpMs: 500 }],
  ["a duration as a number", { rampUpDuration: 60_000 }, { rampUpMs: 60_000 }],
  ["a duration as Go prints it", { rampUpDuration: "1m0s" }, { rampUpMs: 60_000 }],
  ["no duration", { rampUpDuration: "0s" }, { rampUpMs: 0 }],
  ["no modes", { modes: {} }, { mode: { kind: "relaxed" } }],
  ["relaxed", { modes: { relaxed: {} } }, { mode: { kind: "relaxed" } }],
  ["scheduled", { modes: { scheduled: {} } }, { mode: { kind: "scheduled" } }],
  [
    "onlyIfUsed by default",
    { modes: { onlyIfUsed: {} } },
    { mode: { kind: "onlyIfUsed", thresholdPercentage: 50 } },
  ],
  [
    "onlyIfUsed",
    { modes: { onlyIfUsed: { thresholdPercentage: 10 } } },
    { mode: { kind: "onlyIfUsed", thresholdPercentage: 10 } },
  ],
  [
    "goBackN by default",
    { modes: { goBackN: {} } },
    {
      mode: { kind: "goBackN", thresholdPercentage: 50, coolDownMs: 5000, rampDownPercentage: 50 },
    },
  ],
  [
    "goBackN",
    {
      modes: {
        goBackN: { thresholdPercentage: 0, coolDownPeriod: "500ms", rampDownPercentage: 100 },
      },
    },
    { mode: { kind: "goBackN", thresholdPercentage: 0, coolDownMs: 500, rampDownPercentage: 100 } },
  ],
])("a ramp is read: %s", (_, block, ramp) => {
  const settings = readRateLimit({ max: 100, ...block });
  expect(settings).toEqual({ ...DEFAULTS, ramp: { ...DEFAULTS.ramp, ...ramp } });
});

test.each<[Omit<RateLimitBlock, "max">, object]>([
  [{ resumedRampUp: true }, { enabled: true, ttlMs: 180_000 }],
  [
    { resumedRampUp: false, ttl: "180s" },
    { enabled: false, ttlMs: 180_000 },
  ],
  [
    { resumedRampUp: true, ttl: "500ms" },
    { enabled: true, ttlMs: 500 },
  ],
  [{ resumeTtl: "1h" }, { enabled: false, ttlMs: 3_600_000 }],
  [
    { resumeTtl: "1m", ttl: "60s" },
    { enabled: false, ttlMs: 60_000 },
  ],
])("how a pool resumes is read: %j", (block, resume) => {
  expect(readRateLimit({ max: 100, ...block })).toEqual({ ...DEFAULTS, resume });
});

const WHOLE = "9007199254740992";
const DURATION = 'it must be a duration such as "60s", "1m30s" or "500ms", or milliseconds';
const KEYS = "max, min, rampUpDuration, store, modes, resumedRampUp, resumeTtl, ttl";

test.each<[unknown, string]>([
  [undefined, `rateLimit is missing; it must be a map with keys of ${KEYS}`],
  [null, `rateLimit is null; it must be a map with keys of ${KEYS}`],
  [5, `rateLimit is 5; it must be a map with keys of ${KEYS}`],
  [[{ max: 5 }], `rateLimit is a list; it must be a map with keys of ${KEYS}`],
  [{}, "rateLimit.max is missing; it must be a whole number of tokens a second, at least 1"],
  [{ max: 0 }, `rateLimit.max is 0; it must be a whole number of at least 1`],
  [{ max: "100" }, `rateLimit.max is "100"; it must be a whole number of at least 1`],
  [{ max: 1.5 }, `rateLimit.max is 1.5; it must be a whole number of at least 1`],
  [{ max: Number.NaN }, `rateLimit.max is NaN; it must be a whole number of at least 1`],
  [{ max: null }, `rateLimit.max is null; it must be a whole number of at least 1`],
  [
    { max: "x".repeat(1000) },
    `rateLimit.max is "${"x".repeat(36)}...; it must be a whole number of at least 1`,
  ],
  [{ max: "1\u202e0\u2028" }, `rateLimit.max is "1?0?"; it must be a whole number of at least 1`],
  [{ max: () => 1 }, `rateLimit.max is a function; it must be a whole number of at least 1`],
  [{ max: 2 ** 54 }, `rateLimit.max is ${2 ** 54}; it must be a whole number from 1 to ${WHOLE}`],
  [{ max: 1n }, `rateLimit.max is 1; it must be a whole number of at least 1`],
  [{ max: 5, min: -1 }, `rateLimit.min is -1; it must be a whole number of at least 0`],
  [{ max: 5, min: 6 }, "rateLimit.min is 6; it must be at most max, 5"],
  [{ max: 5, rampUpDuration: "60" }, `rateLimit.rampUpDuration is "60"; ${DURATION}`],
  [{ max: 5, rampUpDuration: "-1s" }, `rateLimit.rampUpDuration is "-1s"; ${DURATION}`],
  [{ max: 5, rampUpDuration: -1 }, `rateLimit.rampUpDuration is -1; ${DURATION}`],
  [{ max: 5, rampUpDuration: {} }, `rateLimit.rampUpDuration is a map; ${DURATION}`],
  [{ max: 5, rampUpDuration: "9999999h" }, `rateLimit.rampUpDuration is "9999999h"; ${DURATION}`],
  [{ max: 5, resumedRampUp: "yes" }, 'rateLimit.resumedRampUp is "yes"; it must be true or false'],
  [{ max: 5, ttl: "0s" }, 'rateLimit.ttl is "0s"; it must be a duration of at least 1 ms'],
  [{ max: 5, resumeTtl: 0 }, "rateLimit.resumeTtl is 0; it must be a duration of at least 1 ms"],
  [
    { max: 5, ttl: "180s", resumeTtl: "1m" },
    "rateLimit.ttl is 180000 ms and rateLimit.resumeTtl is 60000 ms; they are one setting by two names, so it must be there once",
  ],
  [
    { max: 5, modes: "relaxed" },
    "rateLimit.modes is a text; it must be a map with keys of scheduled, relaxed, onlyIfUsed, goBackN",
  ],
  [
    { max: 5, modes: { scheduled: {}, relaxed: {} } },
    "rateLimit.modes has scheduled and relaxed; it must have one mode",
  ],
  [
    { max: 5, modes: { relaxed: {}, onlyIfUsed: {}, goBackN: {} } },
    "rateLimit.modes has relaxed, onlyIfUsed and goBackN; it must have one mode",
  ],
  // Kubernetes would take it as not there, and the mode as relaxed.
  [
    { max: 5, modes: { scheduled: null } },
    "rateLimit.modes.scheduled is null; it must be an empty map, {}",
  ],
  [
    { max: 5, modes: { relaxed: { thresholdPercentage: 5 } } },
    "rateLimit.modes.relaxed.thresholdPercentage is not known; nothing can be set here",
  ],
  [
    { max: 5, modes: { onlyIfUsed: { thresholdPercentage: 101 } } },
    "rateLimit.modes.onlyIfUsed.thresholdPercentage is 101; it must be a whole number from 0 to 100",
  ],
  [
    { max: 5, modes: { goBackN: { thresholdPercentage: 120 } } },
    "rateLimit.modes.goBackN.thresholdPercentage is 120; it must be a whole number from 0 to 100",
  ],
  [
    { max: 5, modes: { goBackN: { rampDownPercentage: 0.5 } } },
    "rateLimit.modes.goBackN.rampDownPercentage is 0.5; it must be a whole number from 0 to 100",
  ],
  [
    { max: 5, modes: { goBackN: { coolDownPeriod: true } } },
    `rateLimit.modes.goBackN.coolDownPeriod is true; ${DURATION}`,
  ],
  [{ max: 5, maximum: 6 }, `rateLimit.maximum is not known; known are ${KEYS}`],
  [
    { max: 5, rampupduration: "1s" },
    "rateLimit.rampupduration is not known; did you mean rampUpDuration?",
  ],
  [
    { max: 5, resumed_ramp_up: true },
    "rateLimit.resumed_ramp_up is not known; did you mean resumedRampUp?",
  ],
  [{ max: 5, modes: { goBack: {} } }, "rateLimit.modes.goBack is not known; did you mean goBackN?"],
  [{ max: 5, "a\u001b[2J b": 1 }, `rateLimit."a\\u001b[2J b" is not known; known are ${KEYS}`],
])("what is wrong is said with its place: %#", (block, message) => {
  expect(errorOf(block)).toBe(message);
});

test("a block that stands elsewhere is named by its place", () => {
  const where = "spec.vertices[2].limits.rateLimit";
  expect(errorOf({ max: 5, min: 6 }, { where })).toMatch(
    /^spec\.vertices\[2\]\.limits\.rateLimit\.min is 6;/,
  );
});

test.each([
  [
    { rampUpDuration: 60 },
    [
      'rateLimit.rampUpDuration is 60, which is taken as milliseconds; if seconds are meant, write "60s"',
    ],
  ],
  [
    { modes: { goBackN: { coolDownPeriod: 5 } } },
    [
      'rateLimit.modes.goBackN.coolDownPeriod is 5, which is taken as milliseconds; if seconds are meant, write "5s"',
    ],
  ],
  [{ rampUpDuration: 1000 }, []],
  [{ rampUpDuration: 0 }, []],
  [{ rampUpDuration: "60ms" }, []],
])("a number that looks like seconds is doubted: %j", (block, warnings) => {
  expect(readRateLimit({ max: 100, ...block }).warnings).toEqual(warnings);
});

// The examples of Numaflow's guide, as YAML gives them.
test.each<[string, object]>([
  ["the simple one", { max: 100, min: 50, rampUpDuration: "1s" }],
  ["single", { store: { redisStore: { mode: "single", url: "redis://redis:6379" } } }],
  [
    "sentinel, with the keys of the guide",
    {
      store: {
        redisStore: {
          mode: "sentinel",
          sentinel: {
            endpoints: ["redis-0:26379", "redis-1:26379"],
            master_name: "mymaster",
            redis_auth: { username: "uname", password: "passwd" },
            redis_tls: {
              ca_cert_secret: { name: "tls", key: "ca.crt" },
              cert_secret: { name: "tls", key: "tls.crt" },
              insecure_skip_verify: false,
              key_secret: { name: "tls", key: "tls.key" },
            },
            sentinel_auth: { username: "uname", password: "passwd" },
            sentinel_tls: { insecure_skip_verify: false },
          },
        },
      },
    },
  ],
  ["scheduled", { modes: { scheduled: {} } }],
  ["relaxed", { modes: { relaxed: {} } }],
  ["onlyIfUsed", { modes: { onlyIfUsed: { thresholdPercentage: 10 } } }],
  [
    "goBackN",
    {
      modes: {
        goBackN: { thresholdPercentage: 50, coolDownPeriod: "5s", rampDownPercentage: 50 },
      },
    },
  ],
  ["resume", { resumedRampUp: false, ttl: "180s" }],
])("the examples of Numaflow's guide are read: %s", (_, block) => {
  const settings = readRateLimit({ max: 100, ...block }, { readSecret: () => "PEM" });
  expect(settings.warnings).toEqual([]);
});

const LIKELY_KEYS = [
  "max",
  "min",
  "rampUpDuration",
  "store",
  "modes",
  "resumedRampUp",
  "resumeTtl",
  "ttl",
  "redisStore",
  "inMemoryStore",
  "mode",
  "url",
  "db",
  "sentinel",
  "masterName",
  "endpoints",
  "sentinelAuth",
  "redis_auth",
  "sentinelTLS",
  "redisTLS",
  "username",
  "password",
  "insecureSkipVerify",
  "caCertSecret",
  "certSecret",
  "keySecret",
  "name",
  "key",
  "scheduled",
  "relaxed",
  "onlyIfUsed",
  "goBackN",
  "thresholdPercentage",
  "coolDownPeriod",
  "rampDownPercentage",
  "__proto__",
  "constructor",
  "toString",
];

/** JSON with keys and values that a block has, so that much of it is right. */
const likely = fc.letrec<{ value: unknown; map: object }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthIdentifier: "block" },
    fc.constantFrom<unknown>(1, 5, 100, 0, "60s", "500ms", true, null, {}),
    fc.constantFrom<unknown>("single", "sentinel", "redis://h:1/2", ["h:1"], "s", -1, 1e300),
    tie("map"),
    fc.jsonValue(),
  ),
  map: fc.dictionary(fc.constantFrom(...LIKELY_KEYS), tie("value"), { maxKeys: 4 }),
})).map;

test("any JSON gives settings that a ramp takes, or a ConfigError of one line that has a place", () => {
  const block = fc.oneof(
    fc.jsonValue(),
    likely,
    likely.map((map) => ({ max: 100, ...map })),
    likely.map((modes) => ({ max: 100, modes })),
    likely.map((redisStore) => ({ max: 100, store: { redisStore } })),
    likely.map((sentinel) => ({
      max: 100,
      store: {
        redisStore: {
          mode: "sentinel",
          sentinel: { masterName: "m", endpoints: ["h:1"], ...sentinel },
        },
      },
    })),
  );
  let readable = 0;
  fc.assert(
    fc.property(block, fc.boolean(), (given, hasReader) => {
      const options = hasReader ? { readSecret: ({ key }: { key: string }) => key } : {};
      const result = errorOf(given, options);
      if (typeof result === "string") {
        expect(result).toMatch(/^rateLimit\b[^\n]*$/);
        return;
      }
      readable++;
      const settings = readRateLimit(given, options);
      expect(new Ramp(settings.ramp, { epoch: 0 }).ceiling).toBe(settings.ramp.min);
      expect(settings.resume.ttlMs).toBeGreaterThanOrEqual(1);
    }),
    { numRuns: 3000 },
  );
  expect(readable).toBeGreaterThan(100);
});
