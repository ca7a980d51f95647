import type { HeaderSource } from "./header-source.ts";
import { parseDecimalUp, PAUSE_MAX_MS } from "./time/decimal.ts";
import { parseHttpDate } from "./time/http-date.ts";
import { parseIsoDate } from "./time/iso-date.ts";
import { untilMs } from "./time/reset.ts";

/** Fields that count in milliseconds, of OpenAI, Azure and AWS. */
const MILLISECOND_FIELDS = ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"];

/** A `Retry-After` that differs by less than this from the milliseconds of the same answer is rounded. */
const ROUNDING_MS = 1000;

/**
 * What an answer asks for outright, in milliseconds from now. A field in milliseconds beats the
 * `Retry-After` that was rounded from it; if the two differ by a second or more, the longer one holds, and
 * so does the longest of several fields in milliseconds.
 */
export function readRetryAfterMs(headers: HeaderSource, wallNowMs: number): number | undefined {
  let exactMs: number | undefined;
  for (const name of MILLISECOND_FIELDS) {
    const ms = parseMillisecondsHint(headers.get(name) ?? "");
    if (ms !== undefined) exactMs = Math.max(exactMs ?? 0, ms);
  }
  const ms = parseRetryAfterMs(headers.get("retry-after") ?? "", wallNowMs);
  if (exactMs === undefined || ms === undefined) return exactMs ?? ms;
  return ms - exactMs >= ROUNDING_MS ? ms : exactMs;
}

/**
 * What a `Retry-After` asks for, in whole milliseconds from now, never less than it says.
 *
 * Seconds may have a fraction, as some services send them. A date, of HTTP or RFC 3339, is judged by
 * `wallNowMs`, and one that has passed asks for nothing: 0. Anything else, two values at once among it, is
 * `undefined`. There is no cap, since that would be a retry before its time; only what is beyond
 * 31 years is cut there, so that the result is a number to count with.
 */
export function parseRetryAfterMs(value: string, wallNowMs: number): number | undefined {
  const delayMs = parseDecimalUp(value, 3);
  if (delayMs !== undefined) return Math.min(delayMs, PAUSE_MAX_MS);
  const atMs = parseHttpDate(value, wallNowMs) ?? parseIsoDate(value);
  return atMs === undefined ? undefined : untilMs(atMs, wallNowMs);
}

/** The same of a field that counts in milliseconds, such as `retry-after-ms`. */
export function parseMillisecondsHint(value: string): number | undefined {
  const delayMs = parseDecimalUp(value, 0);
  return delayMs === undefined ? undefined : Math.min(delayMs, PAUSE_MAX_MS);
}
