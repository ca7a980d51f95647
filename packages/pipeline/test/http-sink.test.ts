import { ThrottledError } from "@sluice/egress";
import { systemTimer } from "@sluice/core/system";
import { afterEach, expect, test } from "vitest";
import { HttpAnswerError } from "../src/connector/http/sink/http-answer-error.ts";
import { httpSink } from "../src/connector/http/sink/http-sink.ts";
import type { HttpSinkOptions } from "../src/connector/http/sink/sink-options.ts";
import type { Sink, WriteOptions } from "../src/connector/sink.ts";
import type { Message } from "../src/message.ts";
import { connectorScene, messageOf, unhurried, until } from "./connector-scene.ts";
import { ok, startService } from "./loopback-service.ts";
import type { Answer, LoopbackService, ServedRequest } from "./loopback-service.ts";
import { sinkContract } from "./sink-contract.ts";

const TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

async function scene(
  options: Partial<HttpSinkOptions> = {},
  answer: Answer = ok,
): Promise<{ readonly sink: Sink; readonly service: LoopbackService }> {
  const service = await startService(answer);
  opened.push(service);
  const sink = await httpSink({ url: service.url, ...options }).open(
    connectorScene("orders/out").context,
  );
  opened.push(sink);
  return { sink, service };
}

const many = (count: number): Message[] =>
  Array.from({ length: count }, (_, i) => messageOf({ n: i }, { id: `${i}` }));

const status =
  (code: number, fields: Readonly<Record<string, string>> = {}, body = ""): Answer =>
  (_request, response) =>
    void response.writeHead(code, fields).end(body);

test("each message is a request with its type, an idempotency key of its id, and its trace", async () => {
  const { sink, service } = await scene({ headers: { Authorization: "Bearer x" } });
  const headers = { traceparent: TRACE, other: "no" };
  await sink.write([messageOf({ price: 2 }, { id: "7:1:ä", headers })], unhurried);
  const [request] = service.requests;
  expect(request).toMatchObject({ method: "POST", url: "/in?to=x", body: '{"price":2}' });
  expect(request?.headers).toMatchObject({
    "content-type": "application/json",
    "idempotency-key": "orders/out/7:1:%C3%A4",
    traceparent: TRACE,
    authorization: "Bearer x",
  });
  expect(request?.headers["other"]).toBeUndefined();
});

test("a batch is NDJSON or a JSON array, bounded in messages and bytes", async () => {
  const { sink, service } = await scene({ batch: { messagesMax: 2 } });
  await sink.write(many(5), unhurried);
  expect(service.requests.map(({ body }) => body).toSorted()).toEqual([
    '{"n":0}\n{"n":1}\n',
    '{"n":2}\n{"n":3}\n',
    '{"n":4}\n',
  ]);
  const array = await scene({ batch: { format: "json", bytesMax: 20 } });
  await array.sink.write([...many(3), messageOf(Buffer.from('{ "b": 1 }'))], unhurried);
  expect(array.service.requests.map(({ body }) => body).toSorted()).toEqual([
    '[{"n":0},{"n":1}]',
    '[{"n":2},{"b":1}]',
  ]);
});

test("the key of a batch is that of its repetition, and of no other batch", async () => {
  const { sink, service } = await scene({ batch: {} });
  for (const batch of [many(3), many(3), many(2)]) await sink.write(batch, unhurried);
  const [first, again, other] = service.requests.map((each) => each.headers["idempotency-key"]);
  expect(again).toBe(first);
  expect(other).not.toBe(first);
});

test("bytes that are no JSON fail alone in a batch", async () => {
  const { sink, service } = await scene({ batch: { format: "json" } });
  const results = await sink.write(
    [messageOf(1), messageOf(Buffer.from("{")), messageOf(2)],
    unhurried,
  );
  expect(results?.map((result) => result?.isRetriable)).toEqual([undefined, false, undefined]);
  expect(service.requests[0]?.body).toBe("[1,2]");
});

test("a service that refuses one message of a batch gets all others", async () => {
  const taken: string[] = [];
  const { sink } = await scene({ batch: {} }, ({ body }, response) => {
    if (body.includes('"n":5')) response.writeHead(422).end("no fives");
    else {
      taken.push(...body.trim().split("\n"));
      response.end();
    }
  });
  const results = await sink.write(many(12), unhurried);
  expect(results?.map((result) => result?.isRetriable ?? true)).toEqual(
    many(12).map((_, i) => i !== 5),
  );
  expect(results?.[5]?.error.message).toContain("422: no fives");
  expect(taken).toHaveLength(11);
});

test("a login in the URL, which no request would send, is refused and not shown", () => {
  expect(() => httpSink({ url: "http://me:s3cret@127.0.0.1:1/" })).toThrow(
    /^url has a login, which no request would send/,
  );
});

/** Why one message could not be written. */
async function told(sink: Sink): Promise<string> {
  return (await sink.write([messageOf(1)], unhurried))?.[0]?.error.message ?? "";
}

test("an answer that repeats the request's fields and query is told without its secrets", async () => {
  const { sink, service } = await scene(
    {
      headers: { Authorization: "Bearer s3cret-token", "x-api-key": "pr1vate", accept: "text/*" },
    },
    ({ url, headers }, response) =>
      void response.writeHead(401).end(`${url} ${JSON.stringify(headers)}`),
  );
  const message = await told(sink);
  expect(message).toContain("was answered 401: /in?to=x");
  expect(message).not.toMatch(/s3cret|token|pr1vate/);
  const keyed = await httpSink({ url: `${service.url}&key=a%2Fb-s3cret` }).open(
    connectorScene().context,
  );
  opened.push(keyed);
  expect(await told(keyed)).not.toContain("s3cret");
});

test.each([
  [400, false],
  [401, true],
  [403, true],
  [404, true],
  [405, true],
  [408, true],
  [409, false],
  [429, true],
  [500, true],
  [502, true],
  [503, true],
  [302, false],
])("status %i may succeed later: %s", async (code, isRetriable) => {
  const { sink } = await scene({}, status(code, {}, "because"));
  const [result] = (await sink.write(many(1), unhurried)) ?? [];
  expect(result?.isRetriable).toBe(isRetriable);
  expect(result?.error).toBeInstanceOf(HttpAnswerError);
  expect(result?.error.message).toMatch(
    new RegExp(`^POST http://127.0.0.1:\\d+/in was answered ${code}: because$`),
  );
});

test("a 429 with Retry-After pauses all requests, shows why and until when, and tells the pipeline", async () => {
  let isOver = false;
  const { sink, service } = await scene({ request: { concurrency: 1 } }, (request, response) => {
    if (isOver) ok(request, response);
    else {
      isOver = true;
      response.writeHead(429, { "Retry-After": "1" }).end();
    }
  });
  const startMs = systemTimer.now();
  const writing = sink.write(many(3), unhurried);
  await until("the gate pauses", () => sink.why?.()?.reason === "retry-after");
  const why = sink.why?.();
  expect(why?.detail).toMatch(/^127\.0\.0\.1:\d+ asked for a pause, [\d.]+ m?s left$/);
  expect(why?.untilMs).toBeGreaterThan(systemTimer.now());
  const results = await writing;
  expect(results?.map((result) => result?.isRetriable)).toEqual([true, undefined, undefined]);
  expect(results?.[0]?.retryAfterMs).toBeGreaterThan(0);
  expect(systemTimer.now() - startMs).toBeGreaterThanOrEqual(1_000);
  expect(service.requests).toHaveLength(3);
});

test("no more requests are in flight than the limit, which why names", async () => {
  const held: (() => void)[] = [];
  const { sink, service } = await scene(
    { request: { concurrency: 4 } },
    (_request, response) => void held.push(() => response.end()),
  );
  const writing = sink.write(many(20), unhurried);
  await until("four requests", () => held.length === 4);
  expect(sink.why?.()).toMatchObject({
    reason: "concurrency",
    detail: expect.stringMatching(/^4 of 4 requests to 127\.0\.0\.1:\d+ are in flight/) as string,
  });
  service.answerBy(ok);
  for (const release of held) release();
  expect(await writing).toBeUndefined();
  expect(service.most).toBe(4);
});

test("a service that has a name is called so by why, and a name of nothing is refused", async () => {
  const held: (() => void)[] = [];
  const { sink, service } = await scene(
    { name: "payments", request: { concurrency: 1 } },
    (_request, response) => void held.push(() => response.end()),
  );
  const writing = sink.write(many(2), unhurried);
  await until("a request", () => held.length === 1);
  expect(sink.why?.()?.detail).toMatch(/^1 of 1 requests to payments are in flight/);
  service.answerBy(ok);
  for (const release of held) release();
  await writing;
  for (const name of ["", " ", "x".repeat(65)])
    expect(() => httpSink({ url: service.url, name })).toThrow(/^name is ".*"; use a text of 1 to/);
});

test("the time that requests take, which why names, is that of requests that succeed", async () => {
  const { sink, service } = await scene({ request: { concurrency: 2 } }, status(400));
  await sink.write(many(20), unhurried);
  const held: (() => void)[] = [];
  service.answerBy((_request, response) => void held.push(() => response.end()));
  const writing = sink.write(many(4), unhurried);
  await until("two requests", () => held.length === 2);
  expect(sink.why?.()?.detail).toMatch(/are in flight$/);
  held.pop()?.();
  await until("the third request", () => held.length === 2);
  expect(sink.why?.()?.detail).toMatch(/are in flight and each takes [\d.]+ m?s$/);
  service.answerBy(ok);
  for (const release of held) release();
  expect(await writing).toBeUndefined();
});

test("a request is told as sent when it is written to a connection, not while it waits for a permit", async () => {
  const { sink, service } = await scene({ request: { concurrency: 2 } }, () => undefined);
  let sent = 0;
  const end = new AbortController();
  const onSent = (count: number): void => void (sent += count);
  const writing = sink.write(many(5), { signal: end.signal, onSent });
  await until("two requests", () => service.requests.length === 2);
  expect([sink.tellsSent, sent]).toEqual([true, 2]);
  end.abort();
  await writing;
});

test.each([
  { name: "an attempt of the gate", options: { request: { retry: 2 } }, refusal: 503 },
  { name: "the halves of a refused batch", options: { batch: {} }, refusal: 422 },
])("$name is told as sent again", async ({ options, refusal }) => {
  let isRefused = true;
  const { sink } = await scene(options, (_request, response) => {
    response.writeHead(isRefused ? refusal : 200).end();
    isRefused = false;
  });
  const sends: unknown[] = [];
  const onSent: WriteOptions["onSent"] = (count, again) => void sends.push([count, again?.isAgain]);
  const signal = new AbortController().signal;
  const isBatch = refusal === 422;
  expect(await sink.write(many(isBatch ? 2 : 1), { signal, onSent })).toBeUndefined();
  expect(sends).toEqual(
    isBatch
      ? [
          [2, false],
          [1, true],
          [1, true],
        ]
      : [
          [1, false],
          [1, true],
        ],
  );
});

test("as many connections are opened as requests are in flight, and used again", async () => {
  const { sink, service } = await scene({ request: { concurrency: 3 } });
  for (let round = 0; round < 3; round++) await sink.write(many(30), unhurried);
  expect(service.requests).toHaveLength(90);
  expect(service.connections).toBeLessThanOrEqual(3);
});

test("an adaptive sink finds more than one request at a time by itself", async () => {
  const { sink, service } = await scene({}, (_request, response) => {
    void systemTimer.sleep(5).then(() => response.end());
  });
  for (let round = 0; round < 4; round++) await sink.write(many(100), unhurried);
  expect(service.requests).toHaveLength(400);
  expect(service.most).toBeGreaterThan(3);
});

test("a rate holds, and why names it", async () => {
  const { sink, service } = await scene({ request: { rate: "1/10s" } });
  const stop = new AbortController();
  const writing = sink.write(many(3), { signal: stop.signal });
  await until("one request", () => service.requests.length === 1);
  expect(sink.why?.()?.reason).toBe("rate");
  stop.abort(new Error("drained"));
  const results = await writing;
  // The first may be on its way back.
  const failed = results?.filter((result) => result?.isRetriable === true);
  expect(failed?.length).toBeGreaterThanOrEqual(2);
  expect(service.requests).toHaveLength(1);
});

test("a connection that is reset, a hang, and a service that is away fail retriably", async () => {
  const reset = await scene({}, (_request, response) => void response.socket?.resetAndDestroy());
  expect((await reset.sink.write(many(1), unhurried))?.[0]?.isRetriable).toBe(true);

  const hung = await scene({ request: { timeoutMs: 50 } }, () => undefined);
  const [late] = (await hung.sink.write(many(1), unhurried)) ?? [];
  expect(late).toMatchObject({ isRetriable: true, error: { code: "DEADLINE" } });
  await until("the request is given up", () => hung.service.inFlight === 0);

  await reset.service.close();
  opened.splice(opened.indexOf(reset.service), 1);
  expect((await reset.sink.write(many(1), unhurried))?.[0]?.isRetriable).toBe(true);
});

test("an answer that never ends, and one without end, hold nothing up", async () => {
  const request = { concurrency: 1, timeoutMs: 50 };
  const { sink, service } = await scene({ request }, (_request, response) => {
    response.writeHead(200);
    response.write("begun");
  });
  // The service has the messages: it has said so before it hung.
  expect(await sink.write(many(3), unhurried)).toBeUndefined();
  service.answerBy((_request, response) => {
    response.writeHead(500);
    const piece = Buffer.alloc(65_536);
    const flood = (): void => {
      while (!response.destroyed && response.write(piece));
      if (!response.destroyed) response.once("drain", flood);
    };
    flood();
  });
  expect((await sink.write(many(1), unhurried))?.[0]?.isRetriable).toBe(true);
});

test("an attempt ends with its time, although the service sends a byte of its answer again and again", async () => {
  const request = { concurrency: 1, timeoutMs: 300 };
  const { sink, service } = await scene({ request }, (_request, response) => {
    const drip = async (): Promise<void> => {
      while (!response.destroyed) {
        response.write(".");
        await systemTimer.sleep(20);
      }
    };
    response.writeHead(200);
    void drip();
  });
  expect(await sink.write(many(1), unhurried)).toBeUndefined();
  await until("the request is given up", () => service.inFlight === 0);
});

test("an answer that asks for an upgrade fails, and the sink goes on with another connection", async () => {
  const { sink, service } = await scene({ request: { concurrency: 1 } }, (_request, response) => {
    response.socket?.write("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n");
  });
  expect((await sink.write(many(1), unhurried))?.[0]?.error.message).toMatch(/upgrade/i);
  service.answerBy(ok);
  expect(await sink.write(many(3), unhurried)).toBeUndefined();
  expect(service.connections).toBe(2);
});

test("a request takes of each named rate what its messages cost, and waits for the one that is used up", async () => {
  const { sink, service } = await scene({
    request: {
      rates: { requests: "600/min", tokens: { rate: "10/h", burst: 10 } },
      cost: (messages) => ({ tokens: 4 * messages.length }),
    },
  });
  const abort = new AbortController();
  const writing = sink.write(many(3), { signal: abort.signal });
  await until("two are sent", () => service.requests.length === 2);
  await until("the third waits", () => sink.why?.() !== undefined);
  expect(sink.why?.()).toMatchObject({
    reason: "rate",
    detail: expect.stringContaining("(tokens) is used up") as string,
  });
  abort.abort(new Error("the end"));
  await writing;
});

test("a cost of a rate that is not there fails the message and names the rate", async () => {
  const { sink } = await scene({
    request: { rates: { requests: "1/s" }, cost: () => ({ tokens: 1 }) },
  });
  const [failure] = (await sink.write(many(1), unhurried)) ?? [];
  expect(failure?.isRetriable).toBe(false);
  expect(failure?.error.message).toMatch(/cost names the rate "tokens"; the gate has requests/);
});

test("an aborted write ends requests that wait and requests that run", async () => {
  const { sink, service } = await scene({ request: { concurrency: 2 } }, () => undefined);
  const stop = new AbortController();
  const writing = sink.write(many(5), { signal: stop.signal });
  await until("two requests", () => service.inFlight === 2);
  stop.abort(new Error("drained"));
  expect((await writing)?.map((result) => result?.isRetriable)).toEqual(
    Array.from({ length: 5 }, () => true),
  );
  await until("they are given up", () => service.inFlight === 0);
});

test("a pause that is too long refuses messages with the time to come again", async () => {
  const { sink } = await scene({}, status(503, { "Retry-After": "3600" }));
  const [first] = (await sink.write(many(1), unhurried)) ?? [];
  expect(first?.retryAfterMs).toBeGreaterThan(3_500_000);
  const [second] = (await sink.write(many(1), unhurried)) ?? [];
  expect(second?.error).toBeInstanceOf(ThrottledError);
  expect(second).toMatchObject({ isRetriable: true });
  expect(second?.retryAfterMs).toBeGreaterThan(3_500_000);
});

test("a value without JSON fails for good, and its neighbours are written", async () => {
  const { sink, service } = await scene();
  const results = await sink.write([messageOf({ big: 1n }), messageOf(1)], unhurried);
  expect(results?.map((result) => result?.isRetriable)).toEqual([false, undefined]);
  expect(service.requests).toHaveLength(1);
});

test("a header that no request can have is left out", async () => {
  const { sink, service } = await scene();
  const headers = { traceparent: "00\r\nx: y" };
  expect(await sink.write([messageOf(1, { headers })], unhurried)).toBeUndefined();
  expect(service.requests[0]?.headers["traceparent"]).toBeUndefined();
});

test.each([
  [{ url: "ftp://x/" }, /url is "ftp:\/\/x\/"; use an address such as/],
  [{ url: "http://x/", method: "GET" }, /method is "GET"; it must be/],
  [{ url: "http://x/", batch: { format: "csv" } }, /batch.format is "csv"/],
  [{ url: "http://x/", request: { cost: { tokens: 1 } } }, /request.cost names the rate "tokens"/],
  [{ url: "http://x/", request: { rate: "1/s", rates: {} } }, /rate and rates are both set/],
  [{ url: "http://x/", request: { timeout: 1 } }, /did you mean timeoutMs/],
  [{ url: "http://x/", request: { concurrency: 0 } }, /concurrency is 0/],
])("%j is refused by name", async (options, text) => {
  const open = async (): Promise<Sink> =>
    httpSink(options as unknown as HttpSinkOptions).open(connectorScene().context);
  await expect(open()).rejects.toThrow(text);
});

sinkContract(
  "http",
  async () => {
    const taken: ServedRequest[] = [];
    const take: Answer = (request, response) => {
      taken.push(request);
      response.end();
    };
    const service = await startService(take);
    return {
      connector: httpSink({ url: service.url, request: { timeoutMs: 2_000 } }),
      received: async (count) => {
        await until(`${count} requests`, () => taken.length >= count);
        return taken.map(({ body }) => body);
      },
      headers: () => Promise.resolve(taken[0]?.headers as Record<string, string>),
      fail: () => Promise.resolve(service.answerBy(status(503))),
      mend: () => Promise.resolve(service.answerBy(take)),
      tearDown: () => service.close(),
    };
  },
  { isOrdered: false },
);
