/** Streams of a real Redis as source and sink: what is promised, and what happens in faults. */
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemTimer } from "@sluice/core/system";
import type { Source } from "@sluice/pipeline";
import { redisStreamSink, redisStreamSource } from "@sluice/pipeline/redis";
import type { RedisStreamSourceOptions } from "@sluice/pipeline/redis";
import { NEEDS_REDIS, redisPath, RedisServer, until } from "../../fleet/test/redis-server.ts";
import {
  messagesOf,
  neverAborted,
  readMany,
  readOnce,
  testContext,
  textsOf,
} from "./connector-context.ts";
import { CuttingProxy } from "./cutting-proxy.ts";
import { sinkContract } from "./sink-contract.ts";
import { sourceContract } from "./source-contract.ts";
import type { TestContext } from "./connector-context.ts";

const STREAM = "orders";
const GROUP = "billing";
/** Short enough for a test; messages in the pipeline are renewed three times within it. */
const CLAIM_IDLE_MS = 300;
/** A server that keeps what it has confirmed. */
const DURABLE = ["appendonly yes", "appendfsync always"];

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
});

describe.skipIf(redisPath === undefined)(`a stream of Redis${NEEDS_REDIS}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  beforeEach(() => server.command("FLUSHALL"));

  test("carries value, key, headers and time from a sink to a source", async () => {
    const sink = await openSink(server);
    const message = {
      id: "m1",
      value: { total: 5 },
      key: "customer-7",
      headers: { traceparent: "00-1" },
      eventTimeMs: 1234,
    };
    await sink.write([message], { signal: neverAborted });
    const [read] = await readMany(await openSource(server), 1);
    expect(read).toMatchObject({ key: "customer-7", headers: { traceparent: "00-1" } });
    expect(read?.eventTimeMs).toBe(1234);
    expect(String(read?.value)).toBe('{"total":5}');
  });

  test("makes an object of an entry that another program has added", async () => {
    await server.command("XADD", STREAM, "*", "total", "5", "city", "Köln");
    const [read] = await readMany(await openSource(server), 1);
    expect(JSON.parse(String(read?.value))).toEqual({ total: "5", city: "Köln" });
  });

  test("answers no more messages than it may, each to one consumer of the group", async () => {
    await add(server, "1", "2", "3");
    const [one, two] = [await openSource(server), await openSource(server)];
    expect(textsOf(await readOnce(one, 2))).toEqual(["1", "2"]);
    expect(textsOf(await readOnce(two, 2))).toEqual(["3"]);
  });

  test("begins where `from` says", async () => {
    await add(server, "1");
    const source = await openSource(server, { from: "end" });
    await add(server, "2");
    expect(textsOf(await readMany(source, 1))).toEqual(["2"]);
  });

  test("answers a message as soon as it is there, and nothing after the wait", async () => {
    const source = await openSource(server);
    expect(await readOnce(source, 10, 50)).toEqual([]);
    const read = readOnce(source, 10, 30_000);
    await add(server, "1");
    expect(textsOf(await read)).toEqual(["1"]);
  });

  test("ends its wait on the server when the signal aborts", async () => {
    const source = await openSource(server);
    const controller = new AbortController();
    const startedMs = systemTimer.now();
    const read = source.read(1, { signal: controller.signal, waitMs: 50_000 });
    await until(async () =>
      String(await server.command("INFO", "clients")).includes("blocked_clients:1"),
    );
    controller.abort();
    expect(await read).toEqual([]);
    expect(systemTimer.now() - startedMs).toBeLessThan(40_000);
  });

  test("has nothing pending once all is acknowledged, in any order", async () => {
    await add(server, ...Array.from({ length: 2500 }, (_, index) => String(index)));
    const source = await openSource(server);
    const messages = await readMany(source, 2500);
    await source.ack(messages.toReversed());
    expect(await pendingIn(server)).toBe(0);
  });

  test("gives unacknowledged messages to the same consumer again at once after a restart", async () => {
    await add(server, "1", "2", "3");
    const options = { consumer: "one", claimIdleMs: 60_000 };
    const before = await openSource(server, options);
    const messages = await readMany(before, 3);
    await before.ack(messages.slice(1, 2));
    await before.close();
    const after = await openSource(server, options);
    expect(textsOf(await readMany(after, 2))).toEqual(["1", "3"]);
  });

  test("gives the messages of a dead consumer to another one", async () => {
    await add(server, "1", "2");
    await server.command("XGROUP", "CREATE", STREAM, GROUP, "0");
    await server.command("XREADGROUP", "GROUP", GROUP, "dead", "STREAMS", STREAM, ">");
    const source = await openSource(server);
    expect(textsOf(await readMany(source, 2))).toEqual(["1", "2"]);
  });

  // A busy machine may stop this process for longer than a renewal can be late.
  test(
    "leaves messages with a consumer that works on them longer than the claim takes",
    { retry: 2 },
    async () => {
      await add(server, "1");
      const options = { claimIdleMs: 600 };
      const [slow, other] = [await openSource(server, options), await openSource(server, options)];
      const messages = await readMany(slow, 1);
      expect(await readOnce(other, 1, 1500)).toEqual([]);
      expect(await readOnce(slow, 1, 300)).toEqual([]);
      await slow.ack(messages);
      expect(await pendingIn(server)).toBe(0);
    },
  );

  test("delivers a message again that was given back", async () => {
    await add(server, "1");
    const source = await openSource(server, { claimIdleMs: 60_000 });
    const first = await readMany(source, 1);
    await source.nack?.(first);
    expect(await readMany(source, 1)).toEqual(first);
  });

  test("goes on with the messages after a flush, and says so", async () => {
    const context = testContext();
    const source = await openSource(server, {}, context);
    await add(server, "1");
    await source.ack(await readMany(source, 1));
    await server.command("FLUSHALL");
    await add(server, "2");
    expect(textsOf(await readMany(source, 1))).toEqual(["2"]);
    expect(context.told.map(({ text }) => text)).toEqual([
      expect.stringContaining("the group billing has gone"),
    ]);
  });

  test("goes on if the stream is removed during a wait", async () => {
    const source = await openSource(server);
    const read = readOnce(source, 1, 30_000);
    await until(async () =>
      String(await server.command("INFO", "clients")).includes("blocked_clients:1"),
    );
    await server.command("DEL", STREAM);
    await add(server, "2");
    expect(textsOf(await read)).toEqual(["2"]);
  });

  test("passes over entries that were deleted while they were pending", async () => {
    await add(server, "1", "2");
    const options = { consumer: "one" };
    const before = await openSource(server, options);
    const [first] = await readMany(before, 2);
    await before.close();
    await server.command("XDEL", STREAM, first?.id ?? "");
    const after = await openSource(server, options);
    const messages = await readMany(after, 1);
    expect(textsOf(messages)).toEqual(["2"]);
    await after.ack(messages);
    expect(await pendingIn(server)).toBe(0);
  });

  test("says how many messages wait to be read", async () => {
    await add(server, "1", "2", "3");
    const source = await openSource(server);
    expect(await source.backlog?.()).toBe(3);
    await readMany(source, 2);
    expect(await source.backlog?.()).toBe(1);
  });

  test("leaves no consumer and no connection behind", async () => {
    const source = await openSource(server);
    await add(server, "1");
    await source.ack(await readMany(source, 1));
    await source.close();
    expect(await server.command("XINFO", "CONSUMERS", STREAM, GROUP)).toEqual([]);
    await until(async () => !String(await server.command("CLIENT", "LIST")).includes("xread"));
  });

  test("repeats what a cut connection has swallowed, and loses nothing", async () => {
    const context = testContext();
    const source = await openSource(server, { claimIdleMs: 60_000 }, context);
    const values = Array.from({ length: 300 }, (_, index) => String(index));
    const found = new Set<string>();
    let next = 0;
    while (found.size < values.length) {
      await add(server, ...values.slice(next, next + 10));
      next += 10;
      // Cuts the connections of the source, not that of this command.
      if (next % 50 === 0)
        await server.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      const messages = await readOnce(source, 100, 20).catch(() => []);
      for (const text of textsOf(messages)) found.add(text);
      await source.ack(messages).catch(() => undefined);
    }
    await readOnce(source, 1, 0);
    expect(await pendingIn(server)).toBe(0);
    expect(context.told.some(({ text }) => text.includes("connected again"))).toBe(true);
  });

  test("keeps about as many entries as the sink is told to", async () => {
    const sink = await openSink(server, { lengthMax: 100 });
    const many = Array.from({ length: 3000 }, (_, index) => index);
    await sink.write(messagesOf(...many), { signal: neverAborted });
    const length = Number(await server.command("XLEN", STREAM));
    expect(length).toBeGreaterThanOrEqual(100);
    expect(length).toBeLessThan(400);
  });

  test("fails messages one by one in a sink, with the way out", async () => {
    await server.command("SET", STREAM, "text");
    const sink = await openSink(server);
    const results = await sink.write(messagesOf(1, 2), { signal: neverAborted });
    expect(results?.map((each) => each?.isRetriable)).toEqual([true, true]);
    expect(results?.[0]?.error.message).toMatch(/WRONGTYPE.*use another name for the stream/);
  });
});

describe.skipIf(redisPath === undefined)(`with Redis${NEEDS_REDIS}`, () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());
  const tearDown = async (): Promise<void> => {
    await server.command("FLUSHALL");
  };

  for (const consumer of ["one", undefined])
    sourceContract(`a stream of Redis, ${consumer === undefined ? "random" : "stable"} name`, () =>
      Promise.resolve({
        connector: redisStreamSource({
          url: server.url,
          stream: STREAM,
          group: GROUP,
          consumer,
          claimIdleMs: CLAIM_IDLE_MS,
        }),
        put: (values) => add(server, ...values),
        tearDown,
      }),
    );

  sinkContract("a stream of Redis", () => {
    const entries = async (): Promise<string[][]> => {
      const range = (await server.command("XRANGE", STREAM, "-", "+")) as [string, string[]][];
      return range.map(([, fields]) => fields);
    };
    return Promise.resolve({
      connector: redisStreamSink({ url: server.url, stream: STREAM }),
      received: async () => (await entries()).map((fields) => fields[1] ?? ""),
      headers: async () => {
        const [fields = []] = await entries();
        const names = fields.filter((name) => name.startsWith("header:"));
        return Object.fromEntries(
          names.map((name) => [name.slice(7), fields[fields.indexOf(name) + 1] ?? ""]),
        );
      },
      fail: async () => {
        await server.command("SET", STREAM, "no stream");
      },
      mend: async () => {
        await server.command("DEL", STREAM);
      },
      tearDown,
    });
  });
});

describe.skipIf(redisPath === undefined)(`a Redis that fails${NEEDS_REDIS}`, () => {
  let server: RedisServer;
  afterEach(() => server.stop());

  test("loses nothing acknowledged and repeats the rest after a restart of the server", async () => {
    server = await RedisServer.start(DURABLE);
    const sink = await openSink(server);
    await sink.write(messagesOf(1, 2, 3, 4), { signal: neverAborted });
    const source = await openSource(server, { consumer: "one", claimIdleMs: 60_000 });
    const messages = await readMany(source, 3);
    await source.ack(messages.slice(0, 1));
    await server.kill();
    await expect(readOnce(source, 1, 10)).rejects.toThrow(/ECONNREFUSED|connection was lost/);
    const failed = await sink.write(messagesOf(5), { signal: neverAborted });
    expect(failed?.[0]?.isRetriable).toBe(true);
    await expect(source.ack(messages.slice(1, 2))).rejects.toThrow(
      /ECONNREFUSED|connection was lost/,
    );
    await server.restart();
    await sink.write(messagesOf(5), { signal: neverAborted });
    expect(textsOf(await readMany(source, 2))).toEqual(["4", "5"]);
    // The acknowledgement that failed has been sent with the read; the third message is still unacknowledged.
    const again = await openSource(server, { consumer: "one" });
    expect(textsOf(await readMany(again, 3))).toEqual(["3", "4", "5"]);
  });

  test("does not hang on a server that stands still", async () => {
    server = await RedisServer.start();
    const source = await openSource(server, { timeoutMs: 200 });
    server.pause();
    await expect(readOnce(source, 1, 50)).rejects.toThrow(/no answer within \d+ ms/);
    server.resume();
  });

  test("refuses a wrong password with the way out, and does not show it", async () => {
    server = await RedisServer.start(["requirepass right-one"]);
    const url = `redis://:wrong-one@127.0.0.1:${server.port}`;
    const source = redisStreamSource({ url, stream: STREAM, group: GROUP });
    const refused = source.open(testContext());
    await expect(refused).rejects.toMatchObject({ code: "CONNECTION", canHeal: false });
    await expect(refused).rejects.toThrow(/WRONGPASS.*mend the password/);
    await expect(refused).rejects.not.toThrow(/wrong-one/);
    const without = redisStreamSink({ url: server.url, stream: STREAM });
    const sink = await without.open(testContext());
    const [result] = (await sink.write(messagesOf(1), { signal: neverAborted })) ?? [];
    expect(result?.error.message).toMatch(/NOAUTH.*the server wants a password: redis:\/\//);
    await sink.close();
  });

  test("repeats a message at once whose reply was lost with its connection", async () => {
    server = await RedisServer.start();
    await add(server, "1", "2");
    const proxy = await CuttingProxy.start(server.port);
    try {
      const url = `redis://127.0.0.1:${proxy.port}`;
      const source = await openSource({ url }, { claimIdleMs: 60_000, timeoutMs: 500 });
      const first = await readMany(source, 1);
      expect(textsOf(first)).toEqual(["1"]);
      proxy.swallowReplies();
      await expect(readOnce(source, 1, 0)).rejects.toThrow(/no answer|connection was lost/);
      proxy.cut();
      // The server has given it to this consumer, and the first one is still in the pipeline.
      expect(textsOf(await readMany(source, 1))).toEqual(["2"]);
      expect(await readOnce(source, 1, 0)).toEqual([]);
      await source.close();
    } finally {
      await proxy.close();
    }
  });

  test("uses the settings of a client", async () => {
    server = await RedisServer.start(["requirepass right-one"]);
    const client = new Redis({ ...server.address, password: "right-one", lazyConnect: true });
    const source = await redisStreamSource({ client, stream: STREAM, group: GROUP }).open(
      testContext(),
    );
    expect(await readOnce(source, 1, 0)).toEqual([]);
    expect(client.status).toBe("wait");
    await source.close();
  });
});

describe("the options of streams", () => {
  test.each([
    [{ stream: "a", group: "b" }, /neither url nor client; give one, e\.g\. url: "redis:/],
    [
      { url: "http://x", stream: "a", group: "b" },
      /url of redisStreamSource is no address of Redis/,
    ],
    [{ url: "redis://x", stream: "", group: "b" }, /stream of redisStreamSource is ""; use a text/],
    [{ url: "redis://x", stream: "a", group: "b", claimIdleMs: 5 }, /claimIdleMs .* from 100 to/],
    [{ url: "redis://x", stream: "a", grup: "b" }, /no option "grup"; did you mean group\?/],
    [{ url: "redis://x", stream: "a", group: "b", from: "0" }, /from .* use one of beginning, end/],
  ])("that are wrong are refused: %j", (options, message) => {
    expect(() => redisStreamSource(options as unknown as RedisStreamSourceOptions)).toThrow(
      message,
    );
  });
});

async function openSource(
  { url }: { readonly url: string },
  options: Partial<RedisStreamSourceOptions> = {},
  context: TestContext = testContext(),
): Promise<Source<Buffer>> {
  const settings = { url, stream: STREAM, group: GROUP, claimIdleMs: CLAIM_IDLE_MS, ...options };
  const source = await redisStreamSource(settings).open(context);
  opened.push(source);
  return source;
}

async function openSink({ url }: RedisServer, options: { readonly lengthMax?: number } = {}) {
  const sink = await redisStreamSink({ url, stream: STREAM, ...options }).open(testContext());
  opened.push(sink);
  return sink;
}

async function add(server: RedisServer, ...values: readonly string[]): Promise<void> {
  const sink = await redisStreamSink({ url: server.url, stream: STREAM }).open(testContext());
  await sink.write(messagesOf(...values), { signal: neverAborted });
  await sink.close();
}

async function pendingIn(server: RedisServer): Promise<number> {
  const reply = await server.command("XPENDING", STREAM, GROUP);
  return Number(Array.isArray(reply) ? reply[0] : Number.NaN);
}
