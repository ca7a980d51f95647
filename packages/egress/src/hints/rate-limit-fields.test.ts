import { InvariantError } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  formatRateLimit,
  formatRateLimitPolicy,
  parseRateLimit,
  parseRateLimitPolicy,
} from "./rate-limit-fields.ts";
import type { Quota, QuotaPolicy, QuotaUnit } from "./rate-limit-fields.ts";

test.each([
  ['"default";r=50;t=30', [{ policy: "default", remaining: 50, resetMs: 30_000 }]],
  [
    '"default";r=999;pk=:dHJpYWwxMjEzMjM=:',
    [{ policy: "default", remaining: 999, partitionKey: "dHJpYWwxMjEzMjM=" }],
  ],
  [
    '"burst";r=0;t=1, "daily";r=7;acme-note="hello";x',
    [
      { policy: "burst", remaining: 0, resetMs: 1000 },
      { policy: "daily", remaining: 7 },
    ],
  ],
  ['"a";r=1;t=999999999999999', [{ policy: "a", remaining: 1, resetMs: 1e12 }]],
])("RateLimit %s", (value, expected) => {
  expect(parseRateLimit(value)).toEqual(expected);
});

test.each([
  "",
  "100",
  "default;r=1",
  '"a"',
  '"a";t=1',
  '"a";r=-1',
  '"a";r=1.5',
  '"a";r="1"',
  '"a";r',
  '"a";r=1;t=-1',
  '"a";r=1;t=1.5',
  '"a";r=1;pk="key"',
  // One bad item makes the whole field unreliable.
  '"a";r=1, "b"',
  "limit=100, remaining=50, reset=5",
])("RateLimit %j is ignored as a whole", (value) => {
  expect(parseRateLimit(value)).toEqual([]);
});

test.each([
  [
    '"burst";q=100;w=60,"daily";q=1000;w=86400',
    [
      { policy: "burst", quota: 100, unit: "requests", windowMs: 60_000 },
      { policy: "daily", quota: 1000, unit: "requests", windowMs: 86_400_000 },
    ],
  ],
  [
    '"peruser";q=65535;qu="content-bytes";w=10;pk=:QXBw:',
    [
      {
        policy: "peruser",
        quota: 65_535,
        unit: "content-bytes",
        windowMs: 10_000,
        partitionKey: "QXBw",
      },
    ],
  ],
  [
    '"a";q=1;qu="joules", "b";q=5;qu="concurrent-requests"',
    [
      { policy: "a", quota: 1, unit: "other" },
      { policy: "b", quota: 5, unit: "concurrent-requests" },
    ],
  ],
])("RateLimit-Policy %s", (value, expected) => {
  expect(parseRateLimitPolicy(value)).toEqual(expected);
});

test.each(['"a"', '"a";q=-1', '"a";q=1;w=0', '"a";q=1;qu=requests', '"a";q=1;pk=1', '"a";q=1, b'])(
  "RateLimit-Policy %j is ignored as a whole",
  (value) => {
    expect(parseRateLimitPolicy(value)).toEqual([]);
  },
);

const policy = fc.string({
  unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCodePoint(code)),
});
const count = fc.integer({ min: 0, max: 999_999_999_999_999 });
const partitionKey = fc.uint8Array().map((bytes) => Buffer.from(bytes).toString("base64"));
const unit = fc.constantFrom<QuotaUnit>("requests", "content-bytes", "concurrent-requests");

test("quotas that are written are read again", () => {
  const resetMs = fc.nat(1_000_000_000).map((seconds) => seconds * 1000);
  const quota = fc.record(
    { policy, remaining: count, resetMs, partitionKey },
    { requiredKeys: ["policy", "remaining"] },
  ) as fc.Arbitrary<Quota>;
  fc.assert(
    fc.property(fc.array(quota), (quotas) => {
      expect(parseRateLimit(formatRateLimit(quotas))).toEqual(quotas);
    }),
  );
});

test("policies that are written are read again", () => {
  const windowMs = fc.integer({ min: 1, max: 1_000_000_000 }).map((seconds) => seconds * 1000);
  const one = fc.record(
    { policy, quota: count, unit, windowMs, partitionKey },
    { requiredKeys: ["policy", "quota", "unit"] },
  ) as fc.Arbitrary<QuotaPolicy>;
  fc.assert(
    fc.property(fc.array(one), (policies) => {
      expect(parseRateLimitPolicy(formatRateLimitPolicy(policies))).toEqual(policies);
    }),
  );
});

test("times that are no whole seconds are rounded up by less than one", () => {
  const anyMs = fc.double({ min: 0, max: 1e11, noNaN: true });
  fc.assert(
    fc.property(anyMs, (ms) => {
      const [quota] = parseRateLimit(formatRateLimit([{ policy: "a", remaining: 0, resetMs: ms }]));
      expect(quota?.resetMs).toBe(Math.ceil(ms / 1000) * 1000);
      const field = formatRateLimitPolicy([
        { policy: "a", quota: 1, unit: "requests", windowMs: ms },
      ]);
      expect(parseRateLimitPolicy(field)[0]?.windowMs).toBe(
        Math.max(1, Math.ceil(ms / 1000)) * 1000,
      );
    }),
  );
});

test("negative counts and times are not written", () => {
  expect(() => formatRateLimit([{ policy: "a", remaining: -1 }])).toThrow(InvariantError);
  expect(() => formatRateLimit([{ policy: "a", remaining: 1, resetMs: -1000 }])).toThrow(
    InvariantError,
  );
});
