import fc from "fast-check";
import { expect, test } from "vitest";
import { parseIsoDate } from "./iso-date.ts";

const AT_MS = Date.UTC(2025, 10, 15, 12, 0, 30);

test.each([
  ["2025-11-15T12:00:30Z", AT_MS],
  ["2025-11-15t12:00:30z", AT_MS],
  ["2025-11-15 12:00:30Z", AT_MS],
  ["2025-11-15T12:00:30+00:00", AT_MS],
  ["2025-11-15T13:30:30+01:30", AT_MS],
  ["2025-11-15T07:00:30-05:00", AT_MS],
  ["2025-11-15T12:00:30.5Z", AT_MS + 500],
  ["2025-11-15T12:00:30.000000001Z", AT_MS + 1],
  ["2025-11-15T11:59:60Z", Date.UTC(2025, 10, 15, 12, 0, 0)],
  ["2024-02-29T00:00:00Z", Date.UTC(2024, 1, 29)],
])("%s", (text, expected) => {
  expect(parseIsoDate(text)).toBe(expected);
});

test.each([
  "",
  "2025-11-15",
  "2025-11-15T12:00:30",
  "2025-11-15T12:00Z",
  "2025-02-29T00:00:00Z",
  "2025-02-30T00:00:00Z",
  "2025-13-01T00:00:00Z",
  "2025-11-00T00:00:00Z",
  "2025-11-15T24:00:00Z",
  "2025-11-15T25:00:00Z",
  "2025-11-15T12:60:00Z",
  "2025-11-15T12:00:61Z",
  "2025-11-15T12:00:30+24:00",
  "+02025-11-15T12:00:30Z",
  "2025-11-15T12:00:30Z, 2025-11-15T12:00:31Z",
  `2025-11-15T12:00:30.${"0".repeat(100)}Z`,
])("%j is no date", (text) => {
  expect(parseIsoDate(text)).toBeUndefined();
});

const two = (count: number): string => String(count).padStart(2, "0");

test("a date of any day and offset is the instant that it names", () => {
  const offset = fc.integer({ min: -1439, max: 1439 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 28 }), fc.nat(1439), offset, (day, minute, offsetMin) => {
      const size = Math.abs(offsetMin);
      const zone = `${offsetMin < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
      const text = `2025-02-${two(day)}T${two(Math.floor(minute / 60))}:${two(minute % 60)}:07${zone}`;
      expect(parseIsoDate(text)).toBe(Date.UTC(2025, 1, day, 0, minute - offsetMin, 7));
    }),
  );
});
