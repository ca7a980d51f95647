import { throttledFetch } from "@sluice/egress";
import OpenAI from "openai";
import type { ClientOptions } from "openai";

const throttled = throttledFetch({
  // The limits of your account, by OpenAI's names for them.
  rates: { requests: "500/min", tokens: "200000/min" },
  call: (_url, init) => ({ cost: { tokens: estimateOf(init) }, idempotent: true }),
  costOf: usageOf,
  retry: 4,
  attemptTimeoutMs: 60_000,
});

/** The gate makes the retries; `timeout` covers the wait for the limits, too. */
export function openai(options: ClientOptions = {}): OpenAI {
  return new OpenAI({ maxRetries: 0, timeout: 600_000, ...options, fetch: throttled });
}

/** About four characters are a token; the answer has at most as many tokens as the request allows. */
function estimateOf(init: RequestInit | undefined): number {
  if (typeof init?.body !== "string") return 0;
  const { max_completion_tokens: answer = 1000 } = JSON.parse(init.body) as {
    max_completion_tokens?: number;
  };
  return Math.ceil(init.body.length / 4) + answer;
}

/** The usage in a JSON body or in the last chunk of a stream. A refused request costs nothing; an answer without usage keeps the estimate. */
async function usageOf(response: Response): Promise<{ tokens: number } | undefined> {
  if (!response.ok) return { tokens: 0 };
  const [, tokens] = /"total_tokens":\s*(\d+)/.exec(await response.clone().text()) ?? [];
  return tokens === undefined ? undefined : { tokens: Number(tokens) };
}
