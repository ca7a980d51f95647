import { expect, test } from "vitest";
import { parseDurationMs } from "./duration.ts";

test.each([
  ["10s", 10_000],
  ["250ms", 250],
  ["1h30m", 5_400_000],
  ["1h0m0.5s", 3_600_500],
  ["1.5h", 5_400_000],
  [".25s", 250],
  ["0s", 0],
  ["168h", 604_800_000],
  ["20us", 0.02],
  ["20\u00b5s", 0.02],
  ["20\u03bcs", 0.02],
  ["16000000ns", 16],
  ["1s1s", 2000],
])("the duration %j is %d milliseconds", (text, ms) => {
  expect(parseDurationMs(text)).toBe(ms);
});

test.each([
  "",
  "10",
  "0",
  "s",
  "10S",
  "10 s",
  " 10s",
  "10s ",
  "-10s",
  "+10s",
  "1e3s",
  "1..5s",
  "1.s",
  "1,5s",
  "2d",
  "1m30",
  "Infinitys",
  `${"9".repeat(400)}s`,
])("%j is no duration", (text) => {
  expect(parseDurationMs(text)).toBeUndefined();
});
