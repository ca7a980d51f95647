import { once } from "node:events";
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ANSWER_MS, REQUESTS_PER_SECOND, STREAM_MS, TOKENS_PER_SECOND } from "./workload.ts";

/** A limit of the service: a bucket that is refilled evenly. */
class Limit {
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #atMs = performance.now();

  constructor(perSecond: number, burstSeconds: number) {
    this.#perSecond = perSecond;
    this.#burst = perSecond * burstSeconds;
    this.#tokens = this.#burst;
  }

  /** How long until `count` are there, in ms. */
  missingMs(count: number): number {
    const nowMs = performance.now();
    const refilled = this.#tokens + ((nowMs - this.#atMs) * this.#perSecond) / 1000;
    this.#tokens = Math.min(this.#burst, refilled);
    this.#atMs = nowMs;
    return (Math.max(0, count - this.#tokens) * 1000) / this.#perSecond;
  }

  take(count: number): void {
    this.#tokens -= count;
  }

  fields(name: string): Record<string, string> {
    const resetMs = Math.ceil(((this.#burst - this.#tokens) * 1000) / this.#perSecond);
    return {
      [`x-ratelimit-limit-${name}`]: String(this.#burst),
      [`x-ratelimit-remaining-${name}`]: String(Math.max(0, Math.floor(this.#tokens))),
      [`x-ratelimit-reset-${name}`]: `${resetMs}ms`,
    };
  }
}

interface Counts {
  served: number;
  refused: number;
}

export interface Service {
  readonly baseURL: string;
  readonly counts: Counts;
  close(): Promise<void>;
}

/** A request as the clients send it: the prompt holds what the service needs to know. */
interface Body {
  readonly stream?: boolean;
  readonly messages: readonly { readonly content: string }[];
}

/** A service that limits requests and tokens and refuses as OpenAI does, on a port of its own. */
export async function startService(burstSeconds: number): Promise<Service> {
  const requests = new Limit(REQUESTS_PER_SECOND, burstSeconds);
  const tokens = new Limit(TOKENS_PER_SECOND, burstSeconds);
  const counts: Counts = { served: 0, refused: 0 };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    counts,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks = (await request.toArray()) as Buffer[];
    const { stream = false, messages } = JSON.parse(Buffer.concat(chunks).toString()) as Body;
    const cost = Number(messages[0]?.content.split(" ", 1)[0]);
    const requestsMs = requests.missingMs(1);
    const tokensMs = tokens.missingMs(cost);
    if (requestsMs > 0 || tokensMs > 0) {
      refuse(
        response,
        Math.max(requestsMs, tokensMs),
        tokensMs > requestsMs ? "tokens" : "requests",
      );
      return;
    }
    requests.take(1);
    tokens.take(cost);
    counts.served++;
    const usage = { prompt_tokens: 0, completion_tokens: cost, total_tokens: cost };
    const fields = { ...requests.fields("requests"), ...tokens.fields("tokens") };
    if (stream) await sendStream(response, fields, usage);
    else {
      await sleep(ANSWER_MS);
      response.writeHead(200, { ...fields, "content-type": "application/json" });
      response.end(JSON.stringify({ id: "1", object: "chat.completion", choices: [], usage }));
    }
  }

  function refuse(response: ServerResponse, waitMs: number, type: string): void {
    counts.refused++;
    response.writeHead(429, {
      ...requests.fields("requests"),
      ...tokens.fields("tokens"),
      "retry-after": String(Math.ceil(waitMs / 1000)),
      "retry-after-ms": String(Math.ceil(waitMs)),
      "content-type": "application/json",
    });
    const message = `Rate limit reached on ${type}`;
    response.end(JSON.stringify({ error: { message, type, code: "rate_limit_exceeded" } }));
  }
}

const CHUNKS = 10;

/** Sends chunks at an even pace, and the usage in the last. */
async function sendStream(
  response: ServerResponse,
  fields: Readonly<Record<string, string>>,
  usage: object,
): Promise<void> {
  response.writeHead(200, { ...fields, "content-type": "text/event-stream" });
  for (let i = 0; i < CHUNKS; i++) {
    await sleep(STREAM_MS / CHUNKS);
    response.write('data: {"choices":[{"index":0,"delta":{"content":"word"}}]}\n\n');
  }
  response.end(`data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`);
}
