import { LLMThrottle } from "@aid-on/llm-throttle";
import { throttledFetch } from "@sluice/egress";
import Bottleneck from "bottleneck";
import OpenAI from "openai";
import pLimit from "p-limit";
import PQueue from "p-queue";
import pThrottle from "p-throttle";
import { setTimeout as sleep } from "node:timers/promises";
import { REQUESTS_PER_SECOND, TOKENS_PER_SECOND } from "./workload.ts";
import type { LlmCall } from "./workload.ts";

/** Sends one call and reads its answer to the end; answers the tokens that were used. */
type Send = (call: LlmCall) => Promise<number>;

export interface Client {
  readonly name: string;
  readonly start: (baseURL: string, burstSeconds: number) => Send;
}

/** The SDK as it is shipped: two retries of its own. */
function sdk(baseURL: string, fetch?: typeof globalThis.fetch): Send {
  const openai = new OpenAI({ apiKey: "key", baseURL, ...(fetch === undefined ? {} : { fetch }) });
  return async ({ tokens, estimate, isStream }) => {
    const request = {
      model: "gpt-5",
      max_completion_tokens: estimate,
      messages: [{ role: "user" as const, content: `${tokens} tokens` }],
    };
    if (!isStream) return (await openai.chat.completions.create(request)).usage?.total_tokens ?? 0;
    let used = 0;
    const options = { stream: true, stream_options: { include_usage: true } } as const;
    for await (const chunk of await openai.chat.completions.create({ ...request, ...options }))
      used = chunk.usage?.total_tokens ?? used;
    return used;
  };
}

function estimateOf(init: RequestInit | undefined): number {
  const body = typeof init?.body === "string" ? init.body : "{}";
  const request = JSON.parse(body) as { readonly max_completion_tokens?: number };
  return request.max_completion_tokens ?? 1;
}

/** Of a JSON body or of the last chunk of a stream. A refusal has none: it cost nothing. */
async function usageOf(response: Response): Promise<{ tokens: number }> {
  const text = await response.clone().text();
  return { tokens: Number(/"total_tokens":(\d+)/.exec(text)?.[1] ?? 0) };
}

/** The part of the service's burst that is used: the rest is for estimates that are too low. */
const BURST_PART = 0.8;

const sluice: Client = {
  name: "sluice, 0.8 of the burst",
  start: (baseURL, burstSeconds) =>
    sdk(
      baseURL,
      throttledFetch({
        rates: {
          requests: { rate: "10/s", burst: BURST_PART * REQUESTS_PER_SECOND * burstSeconds },
          tokens: { rate: "10000/s", burst: BURST_PART * TOKENS_PER_SECOND * burstSeconds },
        },
        call: (_input, init) => ({ cost: { tokens: estimateOf(init) } }),
        costOf: usageOf,
      }),
    ),
};

const smooth: Client = {
  name: "sluice, rates only",
  start: (baseURL) =>
    sdk(
      baseURL,
      throttledFetch({
        rates: { requests: "10/s", tokens: "10000/s" },
        call: (_input, init) => ({ cost: { tokens: estimateOf(init) } }),
        costOf: usageOf,
      }),
    ),
};

const bare: Client = { name: "openai alone", start: (baseURL) => sdk(baseURL) };

const limited: Client = {
  name: "p-limit, 10 at once",
  start: (baseURL) => {
    const send = sdk(baseURL);
    const limit = pLimit(10);
    return (call) => limit(() => send(call));
  },
};

const throttled: Client = {
  name: "p-throttle, 10/s",
  start: (baseURL) => pThrottle({ limit: REQUESTS_PER_SECOND, interval: 1000 })(sdk(baseURL)),
};

const queued: Client = {
  name: "p-queue, 10/s",
  start: (baseURL) => {
    const send = sdk(baseURL);
    const queue = new PQueue({ intervalCap: REQUESTS_PER_SECOND, interval: 1000 });
    return (call) => queue.add(() => send(call));
  },
};

const spaced: Client = {
  name: "bottleneck, minTime 100",
  start: (baseURL) => {
    const send = sdk(baseURL);
    const limiter = new Bottleneck({ minTime: 1000 / REQUESTS_PER_SECOND });
    return (call) => limiter.schedule(() => send(call));
  },
};

/** A second limiter for the tokens, refilled four times a second, each call weighing its estimate. */
const reservoir: Client = {
  name: "bottleneck, reservoir by hand",
  start: (baseURL, burstSeconds) => {
    const send = sdk(baseURL);
    const requests = new Bottleneck({ minTime: 1000 / REQUESTS_PER_SECOND });
    const tokens = new Bottleneck({
      reservoir: TOKENS_PER_SECOND * burstSeconds,
      reservoirIncreaseAmount: TOKENS_PER_SECOND / 4,
      reservoirIncreaseInterval: 250,
      reservoirIncreaseMaximum: TOKENS_PER_SECOND * burstSeconds,
    });
    return (call) =>
      tokens.schedule({ weight: call.estimate }, () => requests.schedule(() => send(call)));
  },
};

const silent = (): void => undefined;

/**
 * It refuses and says when to ask again; its caller waits. The estimate is corrected as its README has it.
 * Its limits are per minute, and a burst below a whole minute's is an error.
 */
const llmThrottle: Client = {
  name: "@aid-on/llm-throttle",
  start: (baseURL) => {
    const send = sdk(baseURL);
    const throttle = new LLMThrottle({
      rpm: REQUESTS_PER_SECOND * 60,
      tpm: TOKENS_PER_SECOND * 60,
      adjustmentFailureStrategy: "compensate",
      logger: { warn: silent, error: silent, info: silent, debug: silent },
    });
    let calls = 0;
    return async (call) => {
      const id = String(calls++);
      while (!throttle.consume(id, call.estimate)) {
        const { availableIn = 100 } = throttle.canProcess(call.estimate);
        await sleep(Math.max(1, availableIn));
      }
      const used = await send(call);
      throttle.adjustConsumption(id, used);
      return used;
    };
  },
};

export const CLIENTS: readonly Client[] = [
  sluice,
  smooth,
  reservoir,
  llmThrottle,
  spaced,
  throttled,
  queued,
  limited,
  bare,
];
