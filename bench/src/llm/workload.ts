import { SeededRandom } from "@sluice/core";

export const REQUESTS_PER_SECOND = 10;
export const TOKENS_PER_SECOND = 10_000;

const CALLS = 150;

/** How long the service takes for an answer, and for a stream. */
export const ANSWER_MS = 300;
export const STREAM_MS = 1000;

export interface LlmCall {
  /** What the service charges. */
  readonly tokens: number;
  /** What the caller expects: off by up to 30 % either way. */
  readonly estimate: number;
  readonly isStream: boolean;
}

/** The same calls for every client: 600 to 3000 tokens each, a quarter of them streams. */
export function makeCalls(): readonly LlmCall[] {
  const random = new SeededRandom(14);
  return Array.from({ length: CALLS }, (_, i) => {
    const tokens = 600 + Math.floor(random.next() * 2400);
    const estimate = Math.round(tokens * (0.7 + 0.6 * random.next()));
    return { tokens, estimate, isStream: i % 4 === 0 };
  });
}

/** The least time for all calls in their order under both limits, with the burst used, in ms. */
export function idealMs(calls: readonly LlmCall[], burstSeconds: number): number {
  let tokens = 0;
  let lastMs = 0;
  for (const [i, call] of calls.entries()) {
    tokens += call.tokens;
    const seconds = Math.max((i + 1) / REQUESTS_PER_SECOND, tokens / TOKENS_PER_SECOND);
    const startMs = Math.max(0, seconds - burstSeconds) * 1000;
    lastMs = Math.max(lastMs, startMs + (call.isStream ? STREAM_MS : ANSWER_MS));
  }
  return lastMs;
}
