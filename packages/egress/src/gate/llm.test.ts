/** A gate before a service that limits requests and tokens per second, as APIs for language models do. */
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import type { Hint } from "../hints/hint.ts";
import type { Classify } from "../outcome/classify.ts";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";

const REQUESTS_PER_SECOND = 10;
const TOKENS_PER_SECOND = 10_000;
const CALLS = 150;

interface Answer {
  readonly tokens: number;
  /** The service refused the call: which limit was exceeded, and when to come again. */
  readonly hint?: Hint;
}

/** Reads the hints of the service. */
const classify: Classify = (settled) => {
  const { hint } = "value" in settled ? (settled.value as Answer) : {};
  return hint && { outcome: "busy", retriable: "safe", scope: "over-quota", hints: [hint] };
};

/** A token bucket of the service, by the time at which it would be full. */
class ServiceBucket {
  #emptyUntilMs = 0;
  readonly #perSecond: number;
  readonly #burstMs: number;

  constructor(perSecond: number, burstMs: number) {
    this.#perSecond = perSecond;
    this.#burstMs = burstMs;
  }

  missingMs(count: number, nowMs: number): number {
    const dueMs = Math.max(this.#emptyUntilMs, nowMs) + (count * 1000) / this.#perSecond;
    return Math.max(0, dueMs - this.#burstMs - nowMs - 1e-6);
  }

  take(count: number, nowMs: number): void {
    this.#emptyUntilMs = Math.max(this.#emptyUntilMs, nowMs) + (count * 1000) / this.#perSecond;
  }
}

/** Sends all calls at once; when the last is served, and how many were answered with 429. */
async function send(options: GateOptions, burstMs: number) {
  const timer = new VirtualTimer();
  const random = new SeededRandom(3);
  const requests = new ServiceBucket(REQUESTS_PER_SECOND, burstMs);
  const tokens = new ServiceBucket(TOKENS_PER_SECOND, burstMs);
  const gate = createGate({
    ...options,
    classify,
    retry: { attempts: 10, idempotent: true },
    costOf: (answer) => ({ tokens: (answer as Answer).tokens }),
    runtime: { timer, random, wallClock: timer },
  });
  let refused = 0;
  let used = 0;
  let lastMs = 0;
  const serve = async (actual: number, takesMs: number): Promise<Answer> => {
    const nowMs = timer.now();
    const requestsMs = requests.missingMs(1, nowMs);
    const tokensMs = tokens.missingMs(actual, nowMs);
    if (requestsMs > 0 || tokensMs > 0) {
      refused++;
      await timer.sleep(10);
      const rate = tokensMs > requestsMs ? "tokens" : "requests";
      return { hint: { rate, retryAfterMs: Math.max(requestsMs, tokensMs) }, tokens: 0 };
    }
    requests.take(1, nowMs);
    tokens.take(actual, nowMs);
    used += actual;
    await timer.sleep(takesMs);
    return { tokens: actual };
  };
  const calls = Array.from({ length: CALLS }, async () => {
    const actual = 600 + Math.floor(random.next() * 2400);
    // Wrong by up to 30 % either way; a quarter are streams, which take longer.
    const estimate = Math.round(actual * (0.7 + 0.6 * random.next()));
    const takesMs = random.next() < 0.25 ? 1500 : 300;
    const answer = await gate.run(() => serve(actual, takesMs), { cost: { tokens: estimate } });
    lastMs = Math.max(lastMs, timer.now());
    return answer.hint === undefined;
  });
  await timer.advance(200_000);
  const results = await Promise.all(calls);
  const burst = burstMs / 1000;
  const idealMs =
    1000 * Math.max(CALLS / REQUESTS_PER_SECOND - burst, used / TOKENS_PER_SECOND - burst) + 300;
  return { served: results.filter(Boolean).length, refused, lastMs, idealMs };
}

const withBurst = (burstMs: number) => ({
  requests: { rate: "10/s", burst: (REQUESTS_PER_SECOND * burstMs) / 1000 },
  tokens: { rate: "10000/s", burst: (TOKENS_PER_SECOND * burstMs) / 1000 },
});

test.each<[string, GateOptions["concurrency"], number]>([
  ["an adaptive concurrency, a burst of 2 s", "adaptive", 2000],
  ["an adaptive concurrency, a burst of 0.5 s", "adaptive", 500],
  ["no limit of the concurrency, a burst of 2 s", "none", 2000],
])(
  "with %s all calls are served in the time that the limits need",
  async (_what, concurrency, burstMs) => {
    const rates = withBurst(burstMs);
    const { served, refused, lastMs, idealMs } = await send(
      { concurrency: concurrency ?? "none", rates },
      burstMs,
    );
    expect(served).toBe(CALLS);
    expect(lastMs / idealMs).toBeLessThan(1.1);
    expect(refused).toBeLessThan(0.1 * CALLS);
  },
);

test("smooth rates get hardly any answer of 429 without knowing the burst", async () => {
  const rates = { requests: "10/s", tokens: "10000/s" };
  const { served, refused, lastMs, idealMs } = await send({ concurrency: "adaptive", rates }, 2000);
  expect(served).toBe(CALLS);
  expect(refused).toBeLessThanOrEqual(1);
  // The burst of the service, 2 s, is not used.
  expect(lastMs - 2500).toBeLessThan(1.1 * idealMs);
});
