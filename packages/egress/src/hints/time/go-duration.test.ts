import fc from "fast-check";
import { expect, test } from "vitest";
import { parseGoDurationMs } from "./go-duration.ts";

test.each([
  ["6m0s", 360_000],
  ["1.5s", 1500],
  ["120ms", 120],
  ["1h2m3.5s", 3_723_500],
  ["0s", 0],
  ["8.64s", 8640],
  ["16ms", 16],
  ["1m26.4s", 86_400],
  ["1h0m0s", 3_600_000],
  // Parts of a millisecond round up.
  ["1.0001s", 1001],
  ["500us", 1],
  ["1.5ms", 2],
  ["1500µs", 2],
  ["1500μs", 2],
  ["1ns", 1],
  ["0.07s", 70],
  // In Go's own order or not: the sum is the same.
  ["3s2m", 123_000],
  ["99999999999999h", 1e12],
])("%s is %d ms", (text, expected) => {
  expect(parseGoDurationMs(text)).toBe(expected);
});

test.each(["", "0", "5", "-1s", "+1s", "1d", "s", "1 s", "1s ", "1.s", ".5s", "1e3s", "NaN", "1S"])(
  "%j is no duration",
  (text) => {
    expect(parseGoDurationMs(text)).toBeUndefined();
  },
);

test("a text of any length is read or ignored in linear time", () => {
  expect(parseGoDurationMs("1".repeat(1_000_000))).toBeUndefined();
  expect(parseGoDurationMs("1s".repeat(33))).toBeUndefined();
});

test("a duration is never read as shorter than it is, nor longer by a millisecond per part", () => {
  fc.assert(
    fc.property(fc.nat(99), fc.nat(59), fc.nat(59_999_999), (hours, minutes, micros) => {
      const seconds = `${Math.floor(micros / 1e6)}.${String(micros % 1e6).padStart(6, "0")}`;
      const exactMs = (hours * 60 + minutes) * 60_000 + micros / 1000;
      const ms = parseGoDurationMs(`${hours}h${minutes}m${seconds}s`) ?? -1;
      expect(ms).toBe(Math.ceil(exactMs));
    }),
  );
});
