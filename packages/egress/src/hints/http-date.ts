import { HINT_MAX_CHARS } from "./decimal.ts";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

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

/** The first year that the calendar below takes as it is written; nobody means an earlier one. */
const YEAR_MIN = 1900;

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
  const monthIndex = MONTHS.indexOf(month);
  const fullYear = year.length === 4 ? Number(year) : yearOf(Number(year), wallNowMs);
  if (fullYear < YEAR_MIN || day < 1 || day > (MONTH_DAYS[monthIndex] ?? 0)) return undefined;
  if (monthIndex === 1 && day === 29 && !isLeapYear(fullYear)) return undefined;
  // Second 60 is a leap second; it counts as the next minute's first.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const atMs = Date.UTC(fullYear, monthIndex, day, hour, minute, second);
  // Beyond the calendar's end, where only a wall clock gone mad can lead a year of two digits.
  return Number.isNaN(atMs) ? undefined : atMs;
}

function yearOf(twoDigits: number, wallNowMs: number): number {
  const yearMax = 1970 + Math.floor(wallNowMs / MEAN_YEAR_MS) + YEARS_AHEAD_MAX;
  const year = yearMax - (yearMax % 100) + twoDigits;
  return year > yearMax ? year - 100 : year;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
