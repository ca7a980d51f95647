import { expect, test } from "vitest";
import { leaseBounds } from "./key-lease.ts";

const HOUR_MS = 3_600_000;

test.each([
  ["of 10 requests an hour none", [{ limit: 10, periodMs: HOUR_MS, burst: 10 }], 0],
  ["of 100 a second 32", [{ limit: 100, periodMs: 1_000, burst: 100 }], 32],
  ["of 10 a second what fills up meanwhile", [{ limit: 10, periodMs: 1_000, burst: 10 }], 10],
  ["of 5,000 a day 32", [{ limit: 5_000, periodMs: 24 * HOUR_MS, burst: 5_000 }], 32],
  [
    "of several policies as much as the strictest allows",
    [
      { limit: 100, periodMs: 1_000, burst: 100 },
      { limit: 640, periodMs: HOUR_MS, burst: 640 },
    ],
    10,
  ],
])("%s may be leased", (_, policies, leaseMax) => {
  expect(leaseBounds(policies).leaseMax).toBe(leaseMax);
});
