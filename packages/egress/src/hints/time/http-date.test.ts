import fc from "fast-check";
import { expect, test } from "vitest";
import { parseHttpDate } from "./http-date.ts";

const DAYS = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const LONG_DAYS = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"];
const NOW_MS = Date.UTC(2025, 10, 15);
const pad = (value: number): string => String(value).padStart(2, "0");

test("all three forms of every date give its instant back", () => {
  const fields = fc.record({
    year: fc.integer({ min: 1976, max: 2075 }),
    month: fc.integer({ min: 0, max: 11 }),
    day: fc.integer({ min: 1, max: 28 }),
    second: fc.nat(86_399),
  });
  const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
  fc.assert(
    fc.property(fields, ({ year, month, day, second }) => {
      const atMs = Date.UTC(year, month, day) + second * 1000;
      const weekday = ((Math.floor(atMs / 86_400_000) % 7) + 7) % 7;
      const name = months[month] ?? "";
      const time = `${pad(Math.floor(second / 3600))}:${pad(Math.floor(second / 60) % 60)}:${pad(second % 60)}`;
      const forms = [
        `${DAYS[weekday]}, ${pad(day)} ${name} ${year} ${time} GMT`,
        `${LONG_DAYS[weekday]}, ${pad(day)}-${name}-${pad(year % 100)} ${time} GMT`,
        `${DAYS[weekday]} ${name} ${String(day).padStart(2)} ${time} ${year}`,
      ];
      expect(forms.map((form) => parseHttpDate(form, NOW_MS))).toEqual([atMs, atMs, atMs]);
    }),
  );
});

test("a wall clock that shows no number reads no dates", () => {
  expect(parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT", Number.NaN)).toBeUndefined();
  expect(parseHttpDate("Sun, 06 Nov 1994 08:49:37 GMT", 0)).toBe(784_111_777_000);
});
