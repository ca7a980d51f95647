const MONTH_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** The first year that the calendar of the language takes as it is written; no service means an earlier one. */
const YEAR_MIN = 1900;

/** A date and time in UTC; months count from 1. */
export interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Milliseconds since 1970, or undefined for a date that is in no calendar, such as February 30. */
export function utcMs({ year, month, day, hour, minute, second }: DateParts): number | undefined {
  if (year < YEAR_MIN || day < 1 || day > (MONTH_DAYS[month - 1] ?? 0)) return undefined;
  if (month === 2 && day === 29 && !isLeapYear(year)) return undefined;
  // Second 60 is a leap second; it counts as the next minute's first.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const atMs = Date.UTC(year, month - 1, day, hour, minute, second);
  // Beyond the calendar's end, where only a wall clock that is far off can lead a year of two digits.
  return Number.isNaN(atMs) ? undefined : atMs;
}

function isLeapYear(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}
