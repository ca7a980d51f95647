import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startBroker } from "@sluice/gateway";
import { startAdmin } from "@sluice/gateway/admin";
import type { RunningBroker } from "@sluice/gateway";
import { connect } from "@sluice/pulsar";
import type { Client } from "@sluice/pulsar";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Source } from "../src/connector/source.ts";
import { pulsarSource } from "../src/connector/pulsar/pulsar-source.ts";
import type { PulsarSourceOptions } from "../src/connector/pulsar/pulsar-source.ts";
import { connectorScene, present, readCount, textOf, unhurried, until } from "./connector-scene.ts";
import { sourceContract } from "./source-contract.ts";

let broker: RunningBroker;
let client: Client;
const opened: { close(): Promise<void> }[] = [];

beforeEach(async () => {
  broker = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  client = await connect(broker.url);
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((each) => each.close()));
  await client.close();
  await broker.close();
});

async function openSource(
  options: Partial<PulsarSourceOptions & { format: "bytes" }> = {},
): Promise<Source<Buffer>> {
  const { context } = connectorScene();
  const source = await pulsarSource({
    url: broker.url,
    topic: "orders",
    subscription: "shop",
    format: "bytes",
    ...options,
  }).open(context);
  opened.push(source);
  return source;
}

async function publish(values: readonly string[], batching = false): Promise<void> {
  const producer = await client.createProducer({ topic: "orders", batching });
  await Promise.all(values.map((data) => producer.send({ data })));
  await producer.close();
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => `m${i}`);

test("a message comes with its key, properties as headers, and event time", async () => {
  const source = await openSource();
  const producer = await client.createProducer({ topic: "orders" });
  await producer.send({
    data: "tea",
    key: "k1",
    properties: { TraceParent: "00-1", region: "eu" },
    eventTimeMs: 1_234,
  });
  const [message] = await readCount(source, 1);
  expect(message).toMatchObject({
    key: "k1",
    headers: { traceparent: "00-1", region: "eu" },
    eventTimeMs: 1_234,
  });
  expect(textOf(present(message))).toBe("tea");
});

test("a read takes what is queued, up to its bound, and waits no longer than it may for the first", async () => {
  const source = await openSource();
  await publish(numbers(10));
  const first = await readCount(source, 4);
  expect(first.map(textOf)).toEqual(["m0", "m1", "m2", "m3"]);
  expect((await readCount(source, 6)).map(textOf)).toEqual(numbers(10).slice(4));
  expect(await source.read(5, { ...unhurried, waitMs: 20 })).toEqual([]);
});

test("an aborted read answers nothing and loses no message", async () => {
  const source = await openSource();
  const stop = new AbortController();
  const read = source.read(5, { signal: stop.signal, waitMs: 60_000 });
  stop.abort();
  expect(await read).toEqual([]);
  await publish(["tea"]);
  expect((await readCount(source, 1)).map(textOf)).toEqual(["tea"]);
});

test("acknowledged messages do not come again, those of half a batch neither, and all others do", async () => {
  const source = await openSource();
  await publish(numbers(10), true);
  const read = await readCount(source, 10);
  await source.ack(read.slice(0, 7));
  await source.close();
  const again = await readCount(await openSource(), 3);
  expect(again.map(textOf)).toEqual(["m7", "m8", "m9"]);
  expect(again.map(({ id }) => id)).toEqual(read.slice(7).map(({ id }) => id));
});

test("a nacked message comes again with the same id, after the delay", async () => {
  const source = await openSource({ nackDelayMs: 10 });
  await publish(numbers(3));
  const [first, second, third] = await readCount(source, 3);
  await source.ack([present(first), present(third)]);
  await source.nack?.([present(second)]);
  const [again] = await readCount(source, 1);
  expect(again?.id).toBe(second?.id);
  await source.ack([present(again)]);
  expect(await source.read(5, { ...unhurried, waitMs: 50 })).toEqual([]);
});

test("two sources of one subscription share its messages", async () => {
  const [one, other] = [await openSource(), await openSource()];
  await publish(numbers(40));
  const [left, right] = await Promise.all([readCount(one, 20), readCount(other, 20)]);
  expect(new Set([...left, ...right].map(textOf)).size).toBe(40);
});

test("reading goes on when the broker is restarted, and nothing acknowledged comes again", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-pipeline-"));
  let restarted = await startBroker({ listen: "pulsar://127.0.0.1:0", data: { folder } });
  const listen = `pulsar://127.0.0.1:${restarted.port}`;
  const { context, told } = connectorScene();
  const options = { url: listen, topic: "orders", subscription: "shop", format: "bytes" } as const;
  const source = await pulsarSource(options).open(context);
  try {
    const before = await connect(listen);
    const producer = await before.createProducer({ topic: "orders" });
    for (const data of numbers(4)) await producer.send({ data });
    await before.close();
    await source.ack((await readCount(source, 4)).slice(0, 3));
    await restarted.close();
    await until("told of the loss", () => told.some(({ level }) => level === "warning"));
    restarted = await startBroker({ listen, data: { folder } });
    const again = await readCount(source, 1);
    expect(again.map(textOf)).toEqual(["m3"]);
    await source.ack(again);
    expect(await source.read(5, { ...unhurried, waitMs: 50 })).toEqual([]);
  } finally {
    await source.close();
    await restarted.close();
    await rm(folder, { recursive: true, force: true });
  }
});

test("a wrong address is told at the opening, and leaves nothing open", async () => {
  const { context } = connectorScene();
  const wrong = pulsarSource({
    url: "pulsar://127.0.0.1:1",
    topic: "orders",
    subscription: "shop",
  });
  await expect(wrong.open(context)).rejects.toThrow(/127\.0\.0\.1:1/);
});

test("a misspelt option is refused by its name", () => {
  const options = { url: broker.url, topic: "orders", subscripton: "shop" };
  expect(() => pulsarSource(options as unknown as PulsarSourceOptions)).toThrow(
    /did you mean subscription/,
  );
});

test("the backlog is what Pulsar's admin or the given function says, and unknown without both", async () => {
  const admin = await startAdmin({ broker, version: "1", listen: "127.0.0.1:0" });
  opened.push(admin);
  const source = await openSource({ adminUrl: admin.url });
  await publish(numbers(5));
  const read = await readCount(source, 5);
  await source.ack(read.slice(0, 2));
  expect(await source.backlog?.()).toBe(3);
  const given = await openSource({ backlog: (topics) => Promise.resolve(topics.length * 7) });
  expect(await given.backlog?.()).toBe(7);
  expect(await (await openSource()).backlog?.()).toBeUndefined();
  expect(await (await openSource({ adminUrl: "http://127.0.0.1:1" })).backlog?.()).toBeUndefined();
});

sourceContract("pulsar", async () => {
  const own = await startBroker({ listen: "pulsar://127.0.0.1:0", data: "memory" });
  const producers = await connect(own.url);
  const producer = await producers.createProducer({ topic: "contract" });
  return {
    connector: pulsarSource({
      url: own.url,
      topic: "contract",
      subscription: "shop",
      nackDelayMs: 10,
    }),
    put: async (values) => {
      for (const data of values) await producer.send({ data });
    },
    tearDown: async () => {
      await producers.close();
      await own.close();
    },
  };
});
