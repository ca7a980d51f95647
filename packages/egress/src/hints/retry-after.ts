import { parseDecimalUp, PAUSE_MAX_MS } from "./decimal.ts";
import { parseHttpDate } from "./http-date.ts";

/**
 * What a `Retry-After` asks for, in whole milliseconds from now, never less than it says.
 *
 * Seconds may have a fraction, as some services send them. A date is judged by `wallNowMs`, and one
 * that has passed asks for nothing: 0. Whatever is neither, two values at once among it, is
 * `undefined`. There is no cap, since that would be a retry before its time; only what is beyond
 * 31 years is cut there, so that the result is a number to count with.
 */
export function parseRetryAfterMs(value: string, wallNowMs: number): number | undefined {
  const delayMs = parseDecimalUp(value, 3);
  if (delayMs !== undefined) return Math.min(delayMs, PAUSE_MAX_MS);
  const atMs = parseHttpDate(value, wallNowMs);
  if (atMs === undefined) return undefined;
  return Math.min(Math.max(0, Math.ceil(atMs - wallNowMs)), PAUSE_MAX_MS);
}

/** The same of a field that counts in milliseconds, such as `retry-after-ms`. */
export function parseMillisecondsHint(value: string): number | undefined {
  const delayMs = parseDecimalUp(value, 0);
  return delayMs === undefined ? undefined : Math.min(delayMs, PAUSE_MAX_MS);
}
