import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBroker } from "@sluice/gateway";
import type { RunningBroker, StartBrokerOptions } from "@sluice/gateway";
import { connect, ProducerThrottledError } from "@sluice/pulsar";
import type { Message as PulsarMessage } from "@sluice/pulsar";
import { afterEach, expect, test } from "vitest";
import { pulsarSink } from "../src/connector/pulsar/pulsar-sink.ts";
import type { PulsarSinkOptions } from "../src/connector/pulsar/pulsar-sink.ts";
import type { Sink } from "../src/connector/sink.ts";
import type { Message } from "../src/message.ts";
import { connectorScene, messageOf, unhurried, until } from "./connector-scene.ts";
import { sinkContract } from "./sink-contract.ts";

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

async function brokerOf(options: Partial<StartBrokerOptions> = {}): Promise<RunningBroker> {
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    ...options,
  });
  opened.push(broker);
  return broker;
}

async function sinkOf(url: string, options: Partial<PulsarSinkOptions> = {}): Promise<Sink> {
  const sink = await pulsarSink({ url, topic: "orders", ...options }).open(
    connectorScene().context,
  );
  opened.push(sink);
  return sink;
}

/** Subscribes; the function answers all messages so far, once there are `count`. */
async function receiver(url: string): Promise<(count: number) => Promise<PulsarMessage[]>> {
  const client = await connect(url);
  opened.push(client);
  const consumer = await client.subscribe({
    topic: "orders",
    subscription: "check",
    initialPosition: "earliest",
  });
  const received: PulsarMessage[] = [];
  return async (count) => {
    while (received.length < count) received.push(await consumer.receive());
    return received;
  };
}

const many = (count: number): Message[] =>
  Array.from({ length: count }, (_, i) => messageOf(`m${i}`, { id: `${i}` }));

test("a message is written with key, headers as properties, and event time; values as JSON, text or bytes", async () => {
  const broker = await brokerOf();
  const receive = await receiver(broker.url);
  const sink = await sinkOf(broker.url);
  const headers = { traceparent: "00-1" };
  await sink.write(
    [
      messageOf({ price: 2 }, { key: "k", headers, eventTimeMs: 5 }),
      messageOf("text"),
      messageOf(Buffer.from([1, 2])),
    ],
    unhurried,
  );
  const [json, text, bytes] = await receive(3);
  expect(json).toMatchObject({ key: "k", properties: headers, eventTimeMs: 5 });
  expect(json?.data.toString()).toBe('{"price":2}');
  expect(text?.data.toString()).toBe("text");
  expect(bytes?.data).toEqual(Buffer.from([1, 2]));
});

test("a write resolves once the broker has all messages, in their order", async () => {
  const broker = await brokerOf();
  const receive = await receiver(broker.url);
  const sink = await sinkOf(broker.url);
  expect(await sink.write(many(500), unhurried)).toBeUndefined();
  const received = await receive(500);
  expect(received.map(({ data }) => data.toString())).toEqual(many(500).map(({ value }) => value));
});

test("a message that cannot be sent fails for good, and its neighbours are written", async () => {
  const broker = await brokerOf();
  const receive = await receiver(broker.url);
  const sink = await sinkOf(broker.url, { batching: false });
  const tooLarge = messageOf(Buffer.alloc(6_000_000));
  const results = await sink.write([messageOf("a"), tooLarge, messageOf("b")], unhurried);
  expect(results?.map((result) => result?.isRetriable)).toEqual([undefined, false, undefined]);
  expect((await receive(2)).map(({ data }) => data.toString())).toEqual(["a", "b"]);
});

test("a broker's limit shows with its reason and its end, and a message that it refuses may be sent again then", async () => {
  const broker = await brokerOf({
    limits: { topics: { "public/default/orders": { messages: 1 } } },
  });
  const sink = await sinkOf(broker.url, { batching: false, sendTimeoutMs: 200 });
  const { context } = connectorScene();
  const writing = sink.write(many(5), unhurried);
  await until("the sink is throttled", () => sink.why?.() !== undefined);
  const why = sink.why?.();
  expect(why?.reason).toBe("topic-rate");
  expect(why?.detail).toContain("orders");
  expect(why?.untilMs).toBeGreaterThan(context.timer.now() - 1);
  // The pause is longer than the send timeout, so the message is refused at once.
  const [refused] = (await sink.write([messageOf("late")], unhurried)) ?? [];
  expect(refused?.error).toBeInstanceOf(ProducerThrottledError);
  expect(refused?.isRetriable).toBe(true);
  expect(refused?.retryAfterMs).toBeGreaterThan(200);
  const failures = ((await writing) ?? []).filter((result) => result !== undefined);
  expect(failures.every(({ isRetriable }) => isRetriable)).toBe(true);
});

test("a sink that its broker throttles closes at once, and tells of no reconnect when the broker ends", async () => {
  const broker = await brokerOf({
    limits: { topics: { "public/default/orders": { messages: 1 } } },
  });
  const { context, told } = connectorScene();
  const sink = await pulsarSink({ url: broker.url, topic: "orders", batching: false }).open(
    context,
  );
  const cut = new AbortController();
  const writing = sink.write(many(50), { signal: cut.signal });
  await until("the sink is throttled", () => sink.why?.() !== undefined);
  cut.abort();
  const results = (await writing) ?? [];
  expect(results.filter((result) => result?.isRetriable).length).toBeGreaterThan(40);
  const startMs = context.timer.now();
  await sink.close();
  expect(context.timer.now() - startMs).toBeLessThan(1_000);
  await broker.close();
  expect(told).toEqual([]);
});

test("a sink that nothing limits has no reason to wait", async () => {
  const broker = await brokerOf();
  const sink = await sinkOf(broker.url);
  await sink.write(many(10), unhurried);
  expect(sink.why?.()).toBeUndefined();
});

test("messages written while the broker restarts are stored once it is back", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-pipeline-"));
  const first = await startBroker({ listen: "pulsar://127.0.0.1:0", data: { folder } });
  const listen = `pulsar://127.0.0.1:${first.port}`;
  // The subscription keeps the messages. Its consumer goes: connected, it could be sent "before" by both brokers.
  await receiver(listen);
  await opened.pop()?.close();
  const sink = await sinkOf(listen);
  await sink.write([messageOf("before")], unhurried);
  await first.close();
  const writing = sink.write([messageOf("during")], unhurried);
  const second = await startBroker({ listen, data: { folder } });
  try {
    expect(await writing).toBeUndefined();
    const receive = await receiver(listen);
    expect((await receive(2)).map(({ data }) => data.toString())).toEqual(["before", "during"]);
  } finally {
    for (const each of opened.splice(0).toReversed()) await each.close();
    await second.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("an aborted write fails retriably instead of waiting for a broker that is away", async () => {
  const broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  const sink = await sinkOf(broker.url, { operationTimeoutMs: 500 });
  await broker.close();
  const stop = new AbortController();
  const writing = sink.write(many(2), { signal: stop.signal });
  stop.abort(new Error("drained"));
  const results = await writing;
  expect(results?.map((result) => result?.isRetriable)).toEqual([true, true]);
});

sinkContract("pulsar", async () => {
  const own = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  const client = await connect(own.url);
  const consumer = await client.subscribe({
    topic: "contract",
    subscription: "check",
    initialPosition: "earliest",
  });
  const all: PulsarMessage[] = [];
  return {
    connector: pulsarSink({ url: own.url, topic: "contract" }),
    received: async (count) => {
      while (all.length < count) all.push(await consumer.receive());
      return all.map(({ data }) => data.toString());
    },
    headers: () => Promise.resolve(all[0]?.properties ?? {}),
    tearDown: async () => {
      await client.close();
      await own.close();
    },
  };
});
