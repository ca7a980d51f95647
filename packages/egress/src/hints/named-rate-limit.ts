import type { HeaderSource } from "./header-source.ts";
import type { Hint } from "./hint.ts";
import { parseCount } from "./time/decimal.ts";
import { parseResetMs } from "./time/reset.ts";

/** Fields that speak of one limit by its name. */
interface Family {
  readonly rates: readonly string[];
  readonly fieldOf: (rate: string, what: "limit" | "remaining" | "reset") => string;
}

/** `x-ratelimit-remaining-tokens`: OpenAI, Azure OpenAI, Groq and others that copy them. */
const OPENAI: Family = {
  rates: ["requests", "tokens"],
  fieldOf: (rate, what) => `x-ratelimit-${what}-${rate}`,
};

/** `anthropic-ratelimit-input-tokens-remaining`. */
const ANTHROPIC: Family = {
  rates: ["requests", "tokens", "input-tokens", "output-tokens"],
  fieldOf: (rate, what) => `anthropic-ratelimit-${rate}-${what}`,
};

const FAMILIES = [OPENAI, ANTHROPIC];

/**
 * The limits of services that count requests and tokens apart. Both families document their reset as the
 * time at which the limit is whole again, and refill it bit by bit until then.
 */
export function parseNamedRateLimits(headers: HeaderSource, wallNowMs: number): readonly Hint[] {
  const hints: Hint[] = [];
  for (const { rates, fieldOf } of FAMILIES) {
    for (const rate of rates) {
      const remaining = parseCount(headers.get(fieldOf(rate, "remaining")) ?? "");
      if (remaining === undefined) continue;
      const limit = parseCount(headers.get(fieldOf(rate, "limit")) ?? "");
      const resetMs = parseResetMs(headers.get(fieldOf(rate, "reset")) ?? "", wallNowMs);
      hints.push({
        rate,
        ...(rate === "requests" ? { isOfEveryCall: true } : {}),
        ...(limit === undefined ? {} : { limit }),
        remaining,
        ...(resetMs === undefined ? {} : { resetMs, isGradual: true }),
      });
    }
  }
  return hints;
}
