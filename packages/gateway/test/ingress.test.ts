/** Publish limits as clients see them, on real sockets. */
import { systemTimer } from "@sluice/core/system";
import { connect } from "@sluice/pulsar";
import { ThrottleCodec } from "@sluice/pulsar/wire";
import type { Command } from "@sluice/pulsar/wire";
import { afterEach, expect, test } from "vitest";
import { startBroker } from "../src/index.ts";
import type { StartBrokerOptions } from "../src/index.ts";
import { startTestBroker } from "./broker-world.ts";
import type { TestBroker } from "./broker-world.ts";
import { frameBytes, RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const codec = new ThrottleCodec();

/** What a test has started, ended in reverse. */
const started: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

async function start(limits: StartBrokerOptions["limits"] = {}): Promise<TestBroker> {
  const broker = await startTestBroker({ limits });
  started.push(() => broker.close());
  return broker;
}

async function clientOf({ port }: TestBroker, isAware = false): Promise<RawClient> {
  const client = await RawClient.open(port);
  started.push(() => client.close());
  const featureFlags = isAware ? codec.announceIn({}) : {};
  client.send("connect", { clientVersion: "raw", protocolVersion: 21, featureFlags });
  await client.next("connected");
  return client;
}

async function openProducer(client: RawClient, id: bigint, topic: string): Promise<void> {
  client.send("producer", { topic, producerId: id, requestId: id });
  await client.next("producerSuccess");
}

function send(client: RawClient, producerId: bigint, sequenceId: bigint): void {
  client.send("send", { producerId, sequenceId }, entryOf("x"));
}

/** Many SENDs of producer 1 in one write. */
function sends(count: number): Buffer {
  const frames = Array.from({ length: count }, (_, i) =>
    frameBytes({ kind: "send", body: { producerId: 1n, sequenceId: BigInt(i) } }, entryOf("x")),
  );
  return Buffer.concat(frames);
}

/** All that comes before the answer to a PING, which is not held. */
async function answers(client: RawClient): Promise<Command[]> {
  client.send("ping", {});
  const commands: Command[] = [];
  for (;;) {
    const { command } = await client.nextAny();
    if (command.kind === "pong") return commands;
    commands.push(command);
  }
}

/** The next receipts, after which none comes. */
async function receipts(client: RawClient, count: number): Promise<readonly bigint[]> {
  const ids: bigint[] = [];
  while (ids.length < count) ids.push((await client.next("sendReceipt")).sequenceId);
  // A receipt that is due comes in the turn of its SEND or in the next.
  for (const command of [...(await answers(client)), ...(await answers(client))])
    expect(command.kind).not.toBe("sendReceipt");
  return ids;
}

test("a producer over its limit waits; PING and the other producers of its connection do not", async () => {
  const broker = await start({ topics: { hot: { messages: 2 } } });
  const client = await clientOf(broker);
  await openProducer(client, 1n, "hot");
  await openProducer(client, 2n, "cold");
  for (let id = 0n; id < 6n; id++) send(client, 1n, id);
  send(client, 2n, 100n);
  expect(await receipts(client, 3)).toEqual([0n, 1n, 100n]);
  const [waiting] = broker.administered.throttling.waiting().topics;
  expect(waiting).toMatchObject({
    topic: "persistent://public/default/hot",
    reason: "topic-rate",
    limiter: "topic",
    limit: { messages: 2 },
    producers: [{ heldFrames: 4 }],
    others: 0,
  });
  await broker.timer.advance(1_000);
  expect(await receipts(client, 2)).toEqual([2n, 3n]);
  await broker.timer.advance(1_000);
  expect(await receipts(client, 2)).toEqual([4n, 5n]);
  expect([broker.administered.throttling.waiting().topics, broker.stats().heldBytes]).toEqual([
    [],
    0,
  ]);
});

test("CLOSE_PRODUCER and a PRODUCER with the same id wait behind the held SENDs, in order", async () => {
  const broker = await start({ topics: { hot: { messages: 1 } } });
  const client = await clientOf(broker);
  await openProducer(client, 1n, "hot");
  for (let id = 0n; id < 3n; id++) send(client, 1n, id);
  client.send("closeProducer", { producerId: 1n, requestId: 10n });
  client.send("producer", { topic: "other", producerId: 1n, requestId: 11n });
  expect(await receipts(client, 1)).toEqual([0n]);
  await broker.timer.advance(1_000);
  expect(await receipts(client, 1)).toEqual([1n]);
  await broker.timer.advance(1_000);
  expect((await client.next("sendReceipt")).sequenceId).toBe(2n);
  expect(await client.next("success")).toMatchObject({ requestId: 10n });
  expect(await client.next("producerSuccess")).toMatchObject({ requestId: 11n });
});

test("what a client held when it left is not stored", async () => {
  const broker = await start({ topics: { hot: { messages: 1 } } });
  const client = await clientOf(broker);
  await openProducer(client, 1n, "hot");
  for (let id = 0n; id < 5n; id++) send(client, 1n, id);
  expect(await receipts(client, 1)).toEqual([0n]);
  client.close();
  while (broker.stats().connections > 0) await broker.timer.advance(0);
  await broker.timer.advance(10_000);
  const consumer = await clientOf(broker);
  const subscribe = { topic: "hot", subscription: "s", subType: 0, consumerId: 2n, requestId: 2n };
  consumer.send("subscribe", { ...subscribe, initialPosition: 1 });
  await consumer.next("success");
  consumer.send("flow", { consumerId: 2n, messagePermits: 10 });
  await consumer.next("message");
  const delivered = (await answers(consumer)).filter(({ kind }) => kind === "message");
  expect([delivered.length, broker.stats().heldBytes]).toEqual([0, 0]);
});

test("a broker that closes drops held SENDs at once, so that clients send them again", async () => {
  const broker = await start({ topics: { hot: { messages: 1 } } });
  const client = await clientOf(broker);
  await openProducer(client, 1n, "hot");
  for (let id = 0n; id < 5n; id++) send(client, 1n, id);
  expect(await receipts(client, 1)).toEqual([0n]);
  expect(broker.stats().heldBytes).toBeGreaterThan(0);
  const closed = broker.close();
  expect(broker.stats().heldBytes).toBe(0);
  await client.next("closeProducer");
  client.close();
  await closed;
});

test("a limit that is raised lets a held producer go on at once", async () => {
  const broker = await start({ topics: { hot: { messages: 1 } } });
  const client = await clientOf(broker);
  await openProducer(client, 1n, "hot");
  for (let id = 0n; id < 5n; id++) send(client, 1n, id);
  expect(await receipts(client, 1)).toEqual([0n]);
  const { limits } = broker.ingress;
  limits.unset({ level: "topic", name: "public/default/hot" }, broker.timer.now());
  await broker.timer.advance(0);
  for (let id = 1n; id < 5n; id++) expect((await client.next("sendReceipt")).sequenceId).toBe(id);
});

test("the socket is paused at the bound of held bytes, and read again when there is room", async () => {
  const broker = await start({
    topics: { hot: { messages: 1 } },
    connection: { heldBytes: 2_000 },
  });
  const client = await clientOf(broker);
  await openProducer(client, 1n, "hot");
  for (let id = 0n; id < 6n; id++) send(client, 1n, id);
  client.send("ping", {});
  expect((await client.next("sendReceipt")).sequenceId).toBe(0n);
  while (broker.stats().pausedConnections === 0) await broker.timer.advance(0);
  await broker.timer.advance(2_000);
  expect((await client.next("sendReceipt")).sequenceId).toBe(1n);
  await broker.timer.advance(4_000);
  await client.next("pong");
  expect(broker.stats().pausedConnections).toBe(0);
});

test("a client that knows the commands is told reason and pause, confirms, and others are told nothing", async () => {
  const broker = await start({ topics: { hot: { messages: 100 } } });
  const aware = await clientOf(broker, true);
  const plain = await clientOf(broker);
  await openProducer(aware, 1n, "hot");
  await openProducer(plain, 1n, "hot");
  aware.socket.write(sends(60));
  await answers(aware);
  plain.socket.write(sends(60));
  const others = await answers(plain);
  expect(others.every(({ kind }) => kind === "sendReceipt")).toBe(true);
  const [told] = (await answers(aware)).filter(({ kind }) => kind === "unknown");
  const notice = told?.kind === "unknown" ? codec.decode(told) : undefined;
  expect(notice).toMatchObject({
    kind: "throttleProducer",
    body: { producerId: 1n, throttlingReason: 0 },
  });
  if (notice?.kind !== "throttleProducer") throw new Error("no notice");
  expect(Number(notice.body.pauseForMillis)).toBeGreaterThan(0);
  const body = { requestId: notice.body.requestId };
  aware.socket.write(frameBytes(codec.encode({ kind: "throttleProducerReceipt", body })));
  await answers(aware);
});

test("a client that confirms notices that were never sent is closed", async () => {
  const broker = await start();
  const client = await clientOf(broker, true);
  await openProducer(client, 1n, "any");
  const receipt = codec.encode({ kind: "throttleProducerReceipt", body: { requestId: 77n } });
  for (let i = 0; i <= 100; i++) client.socket.write(frameBytes(receipt));
  await client.ended();
});

test("one connection, hot topic far above its limit: SENDs to a cold topic do not wait with it", async () => {
  const broker = await startBroker({
    listen: "pulsar://127.0.0.1:0",
    data: "memory",
    limits: { topics: { hot: { messages: 20 } } },
  });
  started.push(() => broker.close());
  const client = await connect(broker.url);
  started.push(() => client.close());
  const hot = await client.createProducer({ topic: "hot", batching: false });
  const cold = await client.createProducer({ topic: "cold", batching: false });
  const startedMs = systemTimer.now();
  let acked = 0;
  // 49 s at the limit.
  const flood = Array.from({ length: 1_000 }, async () => {
    await hot.send({ data: Buffer.from("x") }).catch(() => undefined);
    acked++;
  });
  for (let count = 0; count < 100; count++) await cold.send({ data: Buffer.from("y") });
  // The burst of one second, and the rate.
  const most = 20 + (20 * (systemTimer.now() - startedMs)) / 1_000 + 5;
  expect(acked).toBeLessThanOrEqual(Math.min(most, 999));
  expect(acked).toBeGreaterThan(0);
  broker.ingress.limits.unset({ level: "topic", name: "hot" }, systemTimer.now());
  await Promise.all(flood);
});
