import { expect, test } from "vitest";
import {
  bytesText,
  countText,
  durationText,
  limitText,
  percentText,
  rateText,
  timesText,
  wholeText,
} from "./numbers.ts";

test.each([
  [0, "0"],
  [2.86, "2.9"],
  [3, "3"],
  [9.97, "10"],
  [45, "45"],
  [1_000, "1,000"],
  [9_999, "9,999"],
  [50_000, "50.0k"],
  [1_250_000, "1.25M"],
  [12_500_000, "12.5M"],
  [3_000_000_000, "3.00G"],
  [-120, "−120"],
  [undefined, "–"],
])("the count %s is written %s", (value, text) => {
  expect(countText(value)).toBe(text);
});

test.each([
  [0, "0 ms"],
  [4.8, "4.8 ms"],
  [619, "619 ms"],
  [999.6, "1.0 s"],
  [6_000, "6.0 s"],
  [38_000, "38 s"],
  [59_700, "1 min 00 s"],
  [72_000, "1 min 12 s"],
  [11_520_000, "3 h 12 min"],
  [undefined, "–"],
])("the duration of %s ms is written %s", (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

test("a value that is not known is never 0", () => {
  expect([
    countText(undefined),
    rateText(undefined),
    bytesText(undefined),
    durationText(Number.NaN),
  ]).toEqual(["–", "–", "–", "–"]);
});

test("bytes are in powers of ten, as in a flow file", () => {
  expect([512, 8_000, 1_100_000, 256_000_000, 10_000_000, 2_500_000_000].map(bytesText)).toEqual([
    "512 B",
    "8 kB",
    "1.1 MB",
    "256 MB",
    "10 MB",
    "2.5 GB",
  ]);
});

test("a limit says each of its parts, or that there is none", () => {
  expect(limitText({ messages: 1_000 })).toBe("1,000/s");
  expect(limitText({ messages: 1_000, bytes: 10_000_000 })).toBe("1,000/s and 10 MB/s");
  expect(limitText({})).toBe("no limit");
});

test("shares, factors and fields that are edited have their own form", () => {
  expect([percentText(0.716), timesText(6.58), timesText(12.4), wholeText(50_000)]).toEqual([
    "72 %",
    "6.6 ×",
    "12 ×",
    "50,000",
  ]);
});
