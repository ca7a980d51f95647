import { parseDecimalUp, PAUSE_MAX_MS } from "./decimal.ts";
import { parseGoDurationMs } from "./go-duration.ts";
import { parseHttpDate } from "./http-date.ts";
import { parseIsoDate } from "./iso-date.ts";

/** A number from here on, read as seconds, is 31 years: so it is an instant in seconds since 1970. */
const EPOCH_MIN_MS = PAUSE_MAX_MS;
/** An instant from here on, read as seconds since 1970, is after the year 5138: so it is in milliseconds. */
const EPOCH_IN_MS_MIN_MS = 1e14;

/**
 * Milliseconds from now until a reset, in any form that services use: seconds from now, an instant in
 * seconds or milliseconds since 1970, a Go duration, an RFC 3339 date, an HTTP date. The size of a number
 * tells which it is. Undefined for anything else, and for an instant while `wallNowMs` is no number.
 */
export function parseResetMs(text: string, wallNowMs: number): number | undefined {
  const ms = parseDecimalUp(text, 3);
  if (ms !== undefined && ms < EPOCH_MIN_MS) return ms;
  const atMs = ms === undefined ? undefined : ms < EPOCH_IN_MS_MIN_MS ? ms : ms / 1000;
  if (atMs !== undefined) return untilMs(atMs, wallNowMs);
  const durationMs = parseGoDurationMs(text);
  if (durationMs !== undefined) return durationMs;
  const dateMs = parseIsoDate(text) ?? parseHttpDate(text, wallNowMs);
  return dateMs === undefined ? undefined : untilMs(dateMs, wallNowMs);
}

/** Milliseconds from now until an instant; 0 if it has passed. */
export function untilMs(atMs: number, wallNowMs: number): number | undefined {
  if (!Number.isFinite(wallNowMs)) return undefined;
  return Math.min(Math.max(0, Math.ceil(atMs - wallNowMs)), PAUSE_MAX_MS);
}
