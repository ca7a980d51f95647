/** The recipes of docs/recipes/ with their real libraries, against servers of this machine. */
import { createServer } from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { Client, credentials, Server, ServerCredentials, status } from "@grpc/grpc-js";
import type { sendUnaryData } from "@grpc/grpc-js";
import { createGate, createGates } from "@sluice/egress";
import { createInboundLimiter, limitHttp } from "@sluice/egress/server";
import { expect, test } from "vitest";
import { anthropic } from "../examples/recipes/anthropic.ts";
import { send } from "../examples/recipes/aws.ts";
import { pageOf } from "../examples/recipes/flaky.ts";
import { limited } from "../examples/recipes/database.ts";
import { server as expressServer } from "../examples/recipes/express.ts";
import { app as fastifyApp } from "../examples/recipes/fastify.ts";
import { start } from "../examples/recipes/fleet-sigterm.ts";
import { post } from "../examples/recipes/grpc.ts";
import { app as honoApp } from "../examples/recipes/hono.ts";
import { openai } from "../examples/recipes/openai.ts";
import { serve } from "../packages/egress/test/server-loopback.ts";
import { redisPath, RedisServer } from "../packages/fleet/test/redis-server.ts";

/** A service that refuses its first requests for 10 ms each, and then answers what `body` is. */
function refusing(count: number, body: unknown): { url: Promise<string>; requests: string[] } {
  const requests: string[] = [];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    requests.push(await text(request));
    response.setHeader("content-type", "application/json");
    if (requests.length <= count) response.writeHead(429, { "retry-after-ms": "10" }).end("{}");
    else response.end(JSON.stringify(body));
  };
  const server = createServer((request, response) => void answer(request, response));
  return { url: serve(server), requests };
}

const messages = [{ role: "user" as const, content: "hello" }];

test("the OpenAI client is retried until it is served", async () => {
  const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
  const choices = [{ index: 0, message: { role: "assistant", content: "tea" } }];
  const { url, requests } = refusing(1, { id: "1", choices, usage });
  const client = openai({ apiKey: "key", baseURL: await url });
  const request = { model: "m", messages, max_completion_tokens: 100 };
  const answer = await client.chat.completions.create(request);
  expect(answer.choices[0]?.message.content).toBe("tea");
  expect(requests).toHaveLength(2);
});

test("the Anthropic client is retried until it is served", async () => {
  const usage = { input_tokens: 5, output_tokens: 7 };
  const { url, requests } = refusing(1, { content: [{ type: "text", text: "tea" }], usage });
  const client = anthropic({ apiKey: "key", baseURL: await url });
  const answer = await client.messages.create({ model: "m", messages, max_tokens: 100 });
  expect(answer.content).toMatchObject([{ text: "tea" }]);
  expect(requests).toHaveLength(2);
});

test.each([
  ["OpenAI", (baseURL: string) => openai({ apiKey: "key", baseURL }).models.list()],
  ["Anthropic", (baseURL: string) => anthropic({ apiKey: "key", baseURL }).models.list()],
])("the retries of the %s client are the gate's alone", async (_name, call) => {
  const { url, requests } = refusing(100, {});
  await expect(call(await url)).rejects.toMatchObject({ status: 429 });
  expect(requests).toHaveLength(4);
});

test("a flaky service is asked again, and the caller does without while it is overloaded", async () => {
  const { url, requests } = refusing(1, "page");
  expect(await pageOf(await url)).toBe('"page"');
  expect(requests).toHaveLength(2);
  const never = refusing(100, "page");
  expect(await pageOf(await never.url)).toBeUndefined();
});

/** As the AWS SDK v3 throws it. */
function awsError(name: string, httpStatusCode: number): Error {
  return Object.assign(new Error(name), { name, $metadata: { httpStatusCode }, $fault: "client" });
}

test("a throttled AWS command is made again, and a missing item is not", async () => {
  const answers = [awsError("ThrottlingException", 400), "item", awsError("ResourceNotFound", 404)];
  let sent = 0;
  const client = {
    send: (_command: string, { abortSignal }: { abortSignal: AbortSignal }) => {
      abortSignal.throwIfAborted();
      const answer = answers[sent++];
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
    },
  };
  expect(await send(client, "get")).toBe("item");
  await expect(send(client, "get")).rejects.toThrow("ResourceNotFound");
  expect(sent).toBe(3);
});

const bytes = (value: Buffer): Buffer => value;

test("a gRPC call that was refused is made again", async () => {
  const server = new Server();
  let calls = 0;
  const answer = (_call: unknown, reply: sendUnaryData<Buffer>): void => {
    if (++calls === 1) reply({ code: status.RESOURCE_EXHAUSTED, details: "later" });
    else reply(null, Buffer.from("posted"));
  };
  server.register("/shop.Ledger/Post", answer, bytes, bytes, "unary");
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  expect((await post(client, Buffer.from("tea")))?.toString()).toBe("posted");
  expect(calls).toBe(2);
  client.close();
  server.forceShutdown();
});

test("a database gets as many queries at once as it has connections, errors of a query included", async () => {
  let running = 0;
  let most = 0;
  const pool = {
    query: async (sql: string) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      if (sql === "bad") throw new Error("unique key violated");
      return { rows: [sql] };
    },
  };
  const limitedPool = limited(pool, 3);
  const results = await Promise.allSettled(
    Array.from({ length: 30 }, (_, i) => limitedPool.query(i % 2 === 0 ? "good" : "bad", [])),
  );
  expect(results.filter((result) => result.status === "fulfilled")).toHaveLength(15);
  expect(most).toBe(3);
});

test("the Fastify recipe counts clients of the proxy one by one, and a client that forges its address once", async () => {
  const proxied = [await quotaLeft("127.0.0.1", "198.51.100.7")];
  proxied.push(await quotaLeft("127.0.0.1", "198.51.100.8"));
  const forged = [await quotaLeft("203.0.113.9", "198.51.100.17")];
  forged.push(await quotaLeft("203.0.113.9", "198.51.100.18"));
  expect(proxied).toEqual([
    expect.stringMatching(/^"default";r=99;/),
    expect.stringMatching(/^"default";r=99;/),
  ]);
  expect(forged).toEqual([
    expect.stringMatching(/^"default";r=99;/),
    expect.stringMatching(/^"default";r=98;/),
  ]);
});

test("the servers answer 429 to a client's 101st request in a minute", async () => {
  const fastifyUrl = await fastifyApp.listen({ port: 0, host: "127.0.0.1" });
  const expressUrl = await serve(expressServer);
  const asks = [
    () => fetch(expressUrl),
    () => fetch(fastifyUrl),
    () => honoApp.request("/", { headers: { "x-api-key": "k" } }),
  ];
  for (const ask of asks) {
    const statuses: number[] = [];
    for (let i = 0; i < 110; i++) {
      const response = await ask();
      await response.text();
      statuses.push(response.status);
    }
    expect(statuses.slice(0, 100).every((code) => code === 200)).toBe(true);
    expect(statuses.slice(100)).toContain(429);
  }
  await fastifyApp.close();
});

test.skipIf(redisPath === undefined)(
  "a member of a fleet that is stopped has ended its calls and left",
  async () => {
    const redis = await RedisServer.start();
    const url = await serve(createServer((_, response) => response.end("tea")));
    const { fetch: limitedFetch, stop } = await start(redis.url);
    expect(await (await limitedFetch(url)).text()).toBe("tea");
    await stop();
    await expect(limitedFetch(url)).rejects.toMatchObject({ code: "CLOSED" });
    await redis.stop();
  },
);

test("the options of the migration tables are accepted", async () => {
  const gate = createGate({ concurrency: 5, maxWaiting: 1_000_000 });
  const twice = gate.wrap((count: number) => 2 * count);
  expect(await Promise.all([1, 2, 3].map(twice))).toEqual([2, 4, 6]);
  await gate[Symbol.asyncDispose]();
  const limiters = [
    () => createGate({ concurrency: 5, rate: "10/s" }),
    () => createGate({ rate: { rate: "100/min", burst: 100 } }),
    () => createGates({ gate: { rate: "10/s" } }).for("id"),
    () => createInboundLimiter({ policies: { second: "10/s", minute: "100/min" } }),
    () => createInboundLimiter({ rate: { limit: 100, periodMs: 60_000, burst: 150 } }),
    () => limitHttp({ rate: "100/min", exempt: () => false, answer: () => ({ status: 429 }) }),
  ];
  for (const create of limiters) expect(create).not.toThrow();
});

/** The field that tells a client of the Fastify recipe what is left of its quota. */
async function quotaLeft(remoteAddress: string, forwarded: string): Promise<unknown> {
  const headers = { "x-forwarded-for": forwarded };
  return (await fastifyApp.inject({ url: "/", remoteAddress, headers })).headers["ratelimit"];
}
