import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { PAUSE_MAX_MS } from "./time/decimal.ts";
import { parseMillisecondsHint, parseRetryAfterMs } from "./retry-after.ts";

const NOW_MS = Date.UTC(2025, 10, 15, 12, 0, 0);

describe("seconds", () => {
  test.each([
    ["0", 0],
    ["1", 1000],
    ["120", 120_000],
    ["0120", 120_000],
    [" 7\t", 7000],
    ["2.0", 2000],
    ["0.5", 500],
    ["0.0001", 1],
    ["1.0010", 1001],
    ["1.0010001", 1002],
    // As doubles, these products are off by a little.
    ["1.001", 1001],
    ["0.07", 70],
    ["4.35", 4350],
    ["1000000000", PAUSE_MAX_MS],
    ["99999999999999999999999999999999", PAUSE_MAX_MS],
  ])("%j is %d ms", (value, expected) => {
    expect(parseRetryAfterMs(value, NOW_MS)).toBe(expected);
  });

  test("are never cut short, and round up by less than a millisecond", () => {
    const micros = fc.nat(2_000_000_000);
    fc.assert(
      fc.property(micros, (us) => {
        const text = `${Math.floor(us / 1e6)}.${String(us % 1e6).padStart(6, "0")}`;
        expect(parseRetryAfterMs(text, NOW_MS)).toBe(Math.ceil(us / 1000));
      }),
    );
  });
});

describe("dates", () => {
  test.each([
    ["Sat, 15 Nov 2025 12:00:30 GMT", 30_000],
    ["Saturday, 15-Nov-25 12:00:30 GMT", 30_000],
    ["Sat Nov 15 12:00:30 2025", 30_000],
    ["Mon Dec  1 12:00:00 2025", 16 * 86_400_000],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 0],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 0],
    ["Sun Nov  6 08:49:37 1994", 0],
    ["Sat, 15 Nov 2025 12:00:60 GMT", 60_000],
    // The day of the week is wrong, the date is clear.
    ["Mon, 15 Nov 2025 12:00:30 GMT", 30_000],
    ["Thu, 29 Feb 2096 00:00:00 GMT", PAUSE_MAX_MS],
  ])("%j is in %d ms", (value, expected) => {
    expect(parseRetryAfterMs(value, NOW_MS)).toBe(expected);
  });

  test("count from a fraction of a millisecond without ending early", () => {
    expect(parseRetryAfterMs("Sat, 15 Nov 2025 12:00:30 GMT", NOW_MS + 0.25)).toBe(30_000);
    expect(parseRetryAfterMs("Sat, 15 Nov 2025 12:00:30 GMT", NOW_MS - 0.25)).toBe(30_001);
  });

  test("of two digits are at most 50 years ahead", () => {
    const atMs = Date.UTC(2070, 0, 1);
    expect(parseRetryAfterMs("Wednesday, 01-Jan-70 00:00:01 GMT", atMs)).toBe(1000);
    expect(parseRetryAfterMs("Wednesday, 01-Jan-70 00:00:01 GMT", NOW_MS)).toBe(PAUSE_MAX_MS);
    expect(parseRetryAfterMs("Wednesday, 01-Jan-80 00:00:01 GMT", NOW_MS)).toBe(0);
    expect(
      parseRetryAfterMs("Saturday, 01-Jan-00 00:00:01 GMT", Date.UTC(1999, 11, 31, 23, 59, 59)),
    ).toBe(2000);
  });
});

test.each([
  "",
  " ",
  "-1",
  "+1",
  "-0",
  "1e9",
  "0x10",
  "NaN",
  "Infinity",
  ".5",
  "5.",
  "1.2.3",
  "1,5",
  "5, 10",
  "5 10",
  "5s",
  "soon",
  "١٢",
  "1".repeat(65),
  "Sat, 15 Nov 2025 12:00:30 CET",
  "sat, 15 nov 2025 12:00:30 gmt",
  "Sat, 15 Nov 2025 12:00:30 GMT, Sat, 15 Nov 2025 12:00:31 GMT",
  "Sat, 31 Nov 2025 12:00:30 GMT",
  "Sat, 29 Feb 2025 12:00:30 GMT",
  "Mon, 29 Feb 2100 12:00:30 GMT",
  "Sat, 00 Nov 2025 12:00:30 GMT",
  "Sat, 15 Nov 2025 24:00:00 GMT",
  "Sat, 15 Nov 2025 12:60:00 GMT",
  "Sat, 15 Nov 2025 12:00:61 GMT",
  "Sat, 15 Nov 0025 12:00:00 GMT",
])("%j is no Retry-After", (value) => {
  expect(parseRetryAfterMs(value, NOW_MS)).toBeUndefined();
});

test.each([
  ["0", 0],
  ["1234", 1234],
  ["12.01", 13],
  ["9999999999999", PAUSE_MAX_MS],
  ["-1", undefined],
  ["1e3", undefined],
  ["Sat, 15 Nov 2025 12:00:30 GMT", undefined],
])("%j in milliseconds is %d", (value, expected) => {
  expect(parseMillisecondsHint(value)).toBe(expected);
});

test("any string at all is ignored or gives a whole number of milliseconds within 31 years", () => {
  const pieces = fc.constantFrom(
    "0",
    "9",
    ".",
    "-",
    "e",
    ",",
    " ",
    ":",
    "Sat, ",
    "15 Nov ",
    "2025 ",
    "12:00:30",
    " GMT",
    "Sunday, 06-Nov-94 08:49:37 GMT",
  );
  const text = fc.oneof(
    fc.string(),
    fc.array(pieces).map((all) => all.join("")),
  );
  const anyNowMs = fc.double();
  fc.assert(
    fc.property(text, anyNowMs, (value, nowMs) => {
      for (const ms of [parseRetryAfterMs(value, nowMs), parseMillisecondsHint(value)]) {
        if (ms === undefined) continue;
        expect(Number.isInteger(ms) && ms >= 0 && ms <= PAUSE_MAX_MS).toBe(true);
      }
    }),
    { numRuns: 1000 },
  );
});
