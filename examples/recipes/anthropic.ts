import Anthropic from "@anthropic-ai/sdk";
import type { ClientOptions } from "@anthropic-ai/sdk";
import { throttledFetch } from "@sluice/egress";

const throttled = throttledFetch({
  // The hints of Anthropic's answers name these limits: requests, input-tokens, output-tokens.
  rates: { requests: "50/min", inputTokens: "40000/min", outputTokens: "8000/min" },
  call: (_url, init) => ({ cost: estimateOf(init), idempotent: true }),
  costOf: usageOf,
  retry: 4,
  attemptTimeoutMs: 120_000,
});

/** The gate makes the retries; `timeout` covers the wait for the limits, too. */
export function anthropic(options: ClientOptions = {}): Anthropic {
  return new Anthropic({ maxRetries: 0, timeout: 600_000, ...options, fetch: throttled });
}

function estimateOf(init: RequestInit | undefined): { inputTokens: number; outputTokens: number } {
  if (typeof init?.body !== "string") return { inputTokens: 0, outputTokens: 0 };
  const { max_tokens: outputTokens } = JSON.parse(init.body) as { max_tokens: number };
  return { inputTokens: Math.ceil(init.body.length / 4), outputTokens };
}

/** Of a JSON body or the last event of a stream; a refusal has none and cost nothing. */
async function usageOf(response: Response): Promise<{ inputTokens: number; outputTokens: number }> {
  const text = await response.clone().text();
  const last = (field: string): number =>
    Number([...text.matchAll(new RegExp(`"${field}":\\s*(\\d+)`, "g"))].at(-1)?.[1] ?? 0);
  return { inputTokens: last("input_tokens"), outputTokens: last("output_tokens") };
}
