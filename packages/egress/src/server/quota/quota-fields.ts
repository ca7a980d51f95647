import type { Rate } from "../../rate-setting.ts";
import { formatRateLimitPolicy } from "../../hints/rate-limit-fields.ts";
import type { QuotaPolicy } from "../../hints/rate-limit-fields.ts";
import type { AnswerHeaders } from "../refusal.ts";
import type { QuotaState } from "./verdict.ts";

/** Integers of a structured field have 15 digits. */
const FIELD_MAX = 999_999_999_999_999;
const NONE: AnswerHeaders = {};

/**
 * The fields `RateLimit-Policy` and `RateLimit` of an answer. Names of policies are words, which need no
 * quoting, so that the texts are put together without a general formatter: it took half of a request's time.
 */
export class QuotaFields {
  readonly #policy: string;
  /** Up to the number of what remains: `"default";r=`. */
  readonly #heads: readonly string[];

  constructor(rates: readonly (readonly [name: string, rate: Rate])[]) {
    this.#policy = formatRateLimitPolicy(rates.map(announcement));
    this.#heads = rates.map(([name]) => `"${name}";r=`);
  }

  of(states: readonly QuotaState[]): AnswerHeaders {
    if (this.#heads.length === 0) return NONE;
    let text = "";
    for (let i = 0; i < this.#heads.length; i++) {
      const { remaining = 0, resetMs } = states[i] ?? {};
      if (i > 0) text += ", ";
      text += `${this.#heads[i]}${remaining}`;
      if (resetMs !== undefined) text += `;t=${Math.ceil(resetMs / 1000)}`;
    }
    return { "RateLimit-Policy": this.#policy, RateLimit: text };
  }
}

/** The policy in whole seconds: of a period that is none, what is sure to come in the next whole. */
function announcement([name, { limit, periodMs }]: readonly [string, Rate]): QuotaPolicy {
  const windowMs = Math.ceil(periodMs / 1000) * 1000;
  const quota = Math.floor((limit * windowMs) / periodMs);
  return { policy: name, quota: Math.min(quota, FIELD_MAX), windowMs, unit: "requests" };
}
