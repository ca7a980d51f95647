import { parseDecimalUp, PAUSE_MAX_MS } from "./decimal.ts";
import type { HeaderSource } from "./header-source.ts";
import type { Quota } from "./rate-limit-fields.ts";

/** How the three fields are called before `-limit`, `-remaining` and `-reset`. */
const PREFIXES = ["ratelimit", "x-ratelimit", "x-rate-limit"];

/** One field with all three, as a draft of 2023 had it. */
const COMBINED = /^limit=\d+, *remaining=(\d+), *reset=(\d+)$/;

/** As seconds, 31 years. As an instant, 2001 in seconds, for which nobody waits. */
const EPOCH_MIN_MS = PAUSE_MAX_MS;
/** As an instant in seconds, the year 5138; so it is one in milliseconds. */
const EPOCH_IN_MS_MIN_MS = 1e14;

/**
 * What is left by the fields from before there was a standard, or `undefined`. They name no policy;
 * the quota is named after the fields. Their reset is seconds from now in some services and an
 * instant in others, in seconds or milliseconds since 1970: its size tells which.
 */
export function parseLegacyRateLimit(headers: HeaderSource, wallNowMs: number): Quota | undefined {
  const combined = COMBINED.exec(headers.get("ratelimit") ?? "");
  if (combined !== null) return toQuota("ratelimit", combined.slice(1), wallNowMs);
  for (const prefix of PREFIXES) {
    const fields = ["remaining", "reset"].map((name) => headers.get(`${prefix}-${name}`) ?? "");
    const quota = toQuota(prefix, fields, wallNowMs);
    if (quota !== undefined) return quota;
  }
  return undefined;
}

function toQuota(policy: string, fields: readonly string[], wallNowMs: number): Quota | undefined {
  const [remaining = "", reset = ""] = fields;
  if (!/^\d{1,15}$/.test(remaining)) return undefined;
  const resetMs = toResetMs(reset, wallNowMs);
  return {
    policy,
    remaining: Number(remaining),
    ...(resetMs === undefined ? {} : { resetMs }),
  };
}

function toResetMs(reset: string, wallNowMs: number): number | undefined {
  const ms = parseDecimalUp(reset, 3);
  if (ms === undefined || ms < EPOCH_MIN_MS) return ms;
  if (!Number.isFinite(wallNowMs)) return undefined;
  const atMs = ms < EPOCH_IN_MS_MIN_MS ? ms : ms / 1000;
  return Math.min(Math.max(0, Math.ceil(atMs - wallNowMs)), PAUSE_MAX_MS);
}
