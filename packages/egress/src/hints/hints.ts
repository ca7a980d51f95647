import type { HeaderSource } from "./header-source.ts";
import type { Hint } from "./hint.ts";
import { pauseOf } from "./hint.ts";
import { parseLegacyRateLimit } from "./legacy-rate-limit.ts";
import { parseNamedRateLimits } from "./named-rate-limit.ts";
import { parseRateLimit, parseRateLimitPolicy } from "./rate-limit-fields.ts";
import type { Quota, ReadQuotaPolicy } from "./rate-limit-fields.ts";
import { readRetryAfterMs } from "./retry-after.ts";
import { parseHttpDate } from "./time/http-date.ts";

/** What an answer asks of the calls that come next. All of it may be absent. */
export interface Hints {
  /** The pause that the answer asks for outright: the answer is a refusal, or speaks of its own repetition. */
  readonly retryAfterMs?: number;
  /** False: the peer says that the call would fail again (`x-should-retry: false`). */
  readonly shouldRetry?: false;
  /** What the answer says of single limits, used up or not. */
  readonly limits: readonly Hint[];
}

/** Most limits of one answer that are read: more than any service has. */
const LIMITS_MAX = 32;

/**
 * Reads the fields of an answer. A malformed field counts as absent.
 *
 * Instants are judged by the answer's own `Date` if it has one, because a peer names them by its own clock;
 * only without it by `wallNowMs`. Limits from a cache are old and not read; a `Retry-After` from a cache
 * still is, in full: waiting too long is the safe side.
 */
export function readHints(headers: HeaderSource, wallNowMs: number): Hints {
  const peerNowMs = parseHttpDate(headers.get("date") ?? "", wallNowMs) ?? wallNowMs;
  const limits = isFromCache(headers) ? [] : readLimits(headers, peerNowMs).slice(0, LIMITS_MAX);
  const retryAfterMs = readRetryAfterMs(headers, peerNowMs);
  return {
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(headers.get("x-should-retry") === "false" ? { shouldRetry: false } : {}),
    limits,
  };
}

/** The limits that ask for a pause: those that are used up and say until when. */
export function exhausted(limits: readonly Hint[]): readonly Hint[] {
  return limits.filter((limit) => pauseOf(limit) !== undefined);
}

/** The standard fields, else those that name their limits, else the ones that do not. */
function readLimits(headers: HeaderSource, peerNowMs: number): readonly Hint[] {
  const quotas = parseRateLimit(headers.get("ratelimit") ?? "");
  if (quotas.length > 0) {
    const policies = parseRateLimitPolicy(headers.get("ratelimit-policy") ?? "");
    return quotas.map((quota) => hintOf(quota, policies));
  }
  const named = parseNamedRateLimits(headers, peerNowMs);
  if (named.length > 0) return named;
  const legacy = parseLegacyRateLimit(headers, peerNowMs);
  return legacy === undefined ? [] : [legacy];
}

/** A policy that counts requests, as it does unless it says otherwise, is one of every call. */
function hintOf(quota: Quota, policies: readonly ReadQuotaPolicy[]): Hint {
  const policy = policies.find((one) => one.policy === quota.policy);
  const isOfEveryCall = policy === undefined || policy.unit === "requests";
  return {
    rate: quota.policy,
    ...(isOfEveryCall ? { isOfEveryCall } : {}),
    ...(policy === undefined ? {} : { limit: policy.quota }),
    remaining: quota.remaining,
    ...(quota.resetMs === undefined ? {} : { resetMs: quota.resetMs }),
  };
}

function isFromCache(headers: HeaderSource): boolean {
  return Number(headers.get("age") ?? 0) > 0;
}
