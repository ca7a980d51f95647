import type { HeaderSource } from "./header-source.ts";
import { parseHttpDate } from "./http-date.ts";
import { parseLegacyRateLimit } from "./legacy-rate-limit.ts";
import { parseRateLimit } from "./rate-limit-fields.ts";
import type { Quota } from "./rate-limit-fields.ts";
import { parseMillisecondsHint, parseRetryAfterMs } from "./retry-after.ts";

/** What an answer asks of those who come next. All of it may be absent, and that is fine. */
export interface Hints {
  /** Until more is welcome: what was told outright, else what the exhausted quotas say. */
  readonly pauseMs?: number;
  /** What was told outright: the answer itself is a refusal, or speaks of its own repetition. */
  readonly retryAfterMs?: number;
  readonly quotas: readonly Quota[];
}

/** Services that say it in milliseconds. */
const MILLISECOND_FIELDS = ["retry-after-ms", "x-ms-retry-after-ms", "x-amz-retry-after"];

/**
 * Reads the fields of an answer. What is malformed counts as absent.
 *
 * Instants are judged by the answer's own `Date` if it has one, because a peer names them by its
 * own clock, whatever ours shows; only without it by `wallNowMs`. `Retry-After` beats the reset of
 * a quota; of several outright words the longest holds. Quotas from a cache are old and not read;
 * a `Retry-After` from there still is, in full: waiting too long is the safe side.
 */
export function readHints(headers: HeaderSource, wallNowMs: number): Hints {
  const date = headers.get("date") ?? "";
  const peerNowMs = parseHttpDate(date, wallNowMs) ?? wallNowMs;
  const quotas = isFromCache(headers) ? [] : readQuotas(headers, peerNowMs);
  const retryAfterMs = readRetryAfterMs(headers, peerNowMs);
  if (retryAfterMs !== undefined) return { pauseMs: retryAfterMs, retryAfterMs, quotas };
  const pauseMs = exhaustedForMs(quotas);
  return pauseMs === undefined ? { quotas } : { pauseMs, quotas };
}

/** How long nothing is left: the longest reset of the quotas that are used up, if any says one. */
export function exhaustedForMs(quotas: readonly Quota[]): number | undefined {
  return longest(quotas.map(({ remaining, resetMs }) => (remaining === 0 ? resetMs : undefined)));
}

function readRetryAfterMs(headers: HeaderSource, peerNowMs: number): number | undefined {
  const inMilliseconds = MILLISECOND_FIELDS.map((name) =>
    parseMillisecondsHint(headers.get(name) ?? ""),
  );
  return longest([
    parseRetryAfterMs(headers.get("retry-after") ?? "", peerNowMs),
    ...inMilliseconds,
  ]);
}

function readQuotas(headers: HeaderSource, peerNowMs: number): readonly Quota[] {
  const quotas = parseRateLimit(headers.get("ratelimit") ?? "");
  if (quotas.length > 0) return quotas;
  const legacy = parseLegacyRateLimit(headers, peerNowMs);
  return legacy === undefined ? [] : [legacy];
}

function isFromCache(headers: HeaderSource): boolean {
  return Number(headers.get("age") ?? 0) > 0;
}

function longest(all: readonly (number | undefined)[]): number | undefined {
  const given = all.filter((ms) => ms !== undefined);
  return given.length === 0 ? undefined : Math.max(...given);
}
