import { utcMs } from "./calendar.ts";
import { HINT_MAX_CHARS } from "./decimal.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const DAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)";
const LONG_DAY = "(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)";
const MONTH = `(?<month>${MONTHS.join("|")})`;
const TIME = String.raw`(?<hour>\d\d):(?<minute>\d\d):(?<second>\d\d)`;

/** Mostly the first; the other two are obsolete, and every recipient has to know them. */
const FORMS = [
  new RegExp(String.raw`^${DAY}, (?<day>\d\d) ${MONTH} (?<year>\d{4}) ${TIME} GMT$`),
  new RegExp(String.raw`^${LONG_DAY}, (?<day>\d\d)-${MONTH}-(?<year>\d\d) ${TIME} GMT$`),
  new RegExp(String.raw`^${DAY} ${MONTH} (?<day>\d\d| \d) ${TIME} (?<year>\d{4})$`),
];

const MEAN_YEAR_MS = 31_556_952_000;
const YEARS_AHEAD_MAX = 50;

/**
 * Milliseconds since 1970 of an HTTP-date in any of its three forms (RFC 9110, 5.6.7), or
 * `undefined`. The day of the week is not held against the date. A year of two digits is the latest
 * that is no more than 50 years after `wallNowMs`.
 */
export function parseHttpDate(value: string, wallNowMs: number): number | undefined {
  if (value.length > HINT_MAX_CHARS || !Number.isFinite(wallNowMs)) return undefined;
  for (const form of FORMS) {
    const parts = form.exec(value)?.groups;
    if (parts !== undefined) return instantOf(parts, wallNowMs);
  }
  return undefined;
}

function instantOf(parts: Readonly<Record<string, string>>, wallNowMs: number): number | undefined {
  const { year = "", month = "" } = parts;
  const [day, hour, minute, second] = [
    parts["day"],
    parts["hour"],
    parts["minute"],
    parts["second"],
  ].map(Number) as [number, number, number, number];
  const fullYear = year.length === 4 ? Number(year) : yearOf(Number(year), wallNowMs);
  return utcMs({ year: fullYear, month: MONTHS.indexOf(month) + 1, day, hour, minute, second });
}

function yearOf(twoDigits: number, wallNowMs: number): number {
  const yearMax = 1970 + Math.floor(wallNowMs / MEAN_YEAR_MS) + YEARS_AHEAD_MAX;
  const year = yearMax - (yearMax % 100) + twoDigits;
  return year > yearMax ? year - 100 : year;
}
