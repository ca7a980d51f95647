import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { readRate } from "./rate-setting.ts";

test.each([
  ["100/s", 100, 1000],
  ["1000/min", 1000, 60_000],
  ["1000 / minute", 1000, 60_000],
  ["5/10s", 5, 10_000],
  ["5/1m30s", 5, 90_000],
  ["1/250ms", 1, 250],
  ["7/h", 7, 3_600_000],
  ["7/hour", 7, 3_600_000],
  ["2/day", 2, 86_400_000],
  [" 3/sec ", 3, 1000],
])("%o is %i requests in %i ms", (text, limit, periodMs) => {
  expect(readRate("rate", text)).toEqual({ limit, periodMs, burst: limit });
});

test("a rate in numbers may save up more or less than one period brings", () => {
  const rate = { limit: 10, periodMs: 1000, burst: 3 };
  expect(readRate("rate", rate)).toEqual(rate);
});

test.each([
  "",
  "100",
  "100/",
  "/s",
  "100/fortnight",
  "1.5/s",
  "-1/s",
  "0/s",
  "100/s/s",
  "1e3/s",
  "1/0s",
  "1/9000h",
  "9999999999999999/s",
  { limit: 0, periodMs: 1000 },
  { limit: 1.5, periodMs: 1000 },
  { limit: Number.NaN, periodMs: 1000 },
  { limit: 1, periodMs: 0 },
  { limit: 1, periodMs: Number.NaN },
  { limit: 1, periodMs: Number.POSITIVE_INFINITY },
  { limit: 1, periodMs: 1000, burst: 0 },
  { limit: 1, periodMs: 1000, burst: 0.5 },
  { limit: 1, periodMs: 1000, brust: 2 } as { limit: number; periodMs: number },
])("%o is no rate, and the message names the setting", (setting) => {
  expect(() => readRate("sustained", setting)).toThrow(ConfigError);
  expect(() => readRate("sustained", setting)).toThrow(/^sustained/);
});
