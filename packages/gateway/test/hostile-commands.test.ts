/** Commands that no honest client sends, on real sockets. An honest client is served all the while. */
import { connect as connectTcp } from "node:net";
import { nextTurn } from "@sluice/core/system";
import { encodeEntry, SERVER_ERROR } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BrokerEvent } from "../src/observe/broker-event.ts";
import { startTestBroker } from "./broker-world.ts";
import type { TestBroker } from "./broker-world.ts";
import { longestTurnMs } from "./longest-turn.ts";
import { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

const MIB = 1024 * 1024;
const SHARED = 1;
const KEY_SHARED = 3;
const STICKY = 1;

let broker: TestBroker;
let hostile: RawClient;
const events: BrokerEvent[] = [];
const clients: RawClient[] = [];

beforeEach(async () => {
  events.length = 0;
  broker = await startTestBroker({
    observe: (event) => void events.push(event),
    broker: { limits: { subscriptionsMax: 1_500 } },
  });
  hostile = await connected();
});

afterEach(async () => {
  await expectServed();
  for (const client of clients.splice(0)) client.close();
  await until(() => broker.stats().connections === 0);
  // Whatever it did, nothing of it is left.
  expect(broker.stats()).toMatchObject({ producers: 0, consumers: 0 });
  // But how often some entries were delivered.
  expect(broker.stats().memoryBytes).toBeLessThan(1_000);
  await broker.close();
  expect(events.filter(({ kind }) => kind === "error")).toEqual([]);
});

async function connected(): Promise<RawClient> {
  const client = await RawClient.connected(broker.port);
  clients.push(client);
  return client;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await nextTurn();
}

/** An honest client publishes and consumes. */
async function expectServed(): Promise<void> {
  const honest = await connected();
  await open(honest, { topic: "honest" });
  await subscribe(honest, { topic: "honest", subscription: "honest", initialPosition: 0 });
  honest.send("flow", { consumerId: 1n, messagePermits: 10 });
  honest.send("send", { producerId: 1n, sequenceId: 0n }, entryOf("hello"));
  const { messageId } = await honest.next("message");
  honest.send("ack", { consumerId: 1n, ackType: 0, messageIds: [messageId] });
  honest.send("ping", {});
  await honest.next("pong");
}

async function open(
  client: RawClient,
  request: Partial<CommandBodies["producer"]>,
): Promise<CommandBodies["producerSuccess"] | CommandBodies["error"]> {
  client.send("producer", { topic: "t", producerId: 1n, requestId: 1n, ...request });
  return answer(client, "producerSuccess");
}

async function subscribe(
  client: RawClient,
  request: Partial<CommandBodies["subscribe"]>,
): Promise<CommandBodies["success"] | CommandBodies["error"]> {
  const ids = { consumerId: 1n, requestId: 1n };
  const start = { subType: SHARED, initialPosition: 1 };
  client.send("subscribe", { topic: "t", subscription: "s", ...start, ...ids, ...request });
  return answer(client, "success");
}

/** The next answer of this kind, or error. */
async function answer<Kind extends "producerSuccess" | "success" | "ackResponse">(
  client: RawClient,
  kind: Kind,
): Promise<CommandBodies[Kind] | CommandBodies["error"]> {
  for (;;) {
    const { command } = await client.nextAny();
    if (command.kind === kind) return command.body as CommandBodies[Kind];
    if (command.kind === "error") return command.body;
  }
}

function messageOf(answered: object): unknown {
  return "message" in answered ? answered.message : undefined;
}

/** Single hashes, every second one. */
const pieces = (count: number, from: number): { start: number; end: number }[] =>
  Array.from({ length: count }, (_, index) => ({ start: from + 2 * index, end: from + 2 * index }));

const sticky = (from: number, count: number): Partial<CommandBodies["subscribe"]> => ({
  subType: KEY_SHARED,
  keySharedMeta: { keySharedMode: STICKY, hashRanges: pieces(count, from) },
});

test("a sticky consumer of 15,000 hash ranges is refused by name; 1,000 are taken and looked up quickly", async () => {
  const tooMany = await subscribe(hostile, sticky(0, 15_000));
  expect(tooMany).toHaveProperty("error", SERVER_ERROR.ConsumerAssignError);
  expect(messageOf(tooMany)).toContain("1000");
  const tookMs = await longestTurnMs(async () => {
    for (let index = 0; index < 30; index++) {
      const request = { ...sticky(index * 2_000, 1_000), consumerId: BigInt(index) };
      expect(await subscribe(hostile, request)).not.toHaveProperty("error");
    }
    const twice = { ...sticky(1_000, 1_000), consumerId: 99n };
    expect(await subscribe(hostile, twice)).toHaveProperty("error");
  });
  expect(tookMs).toBeLessThan(200);
});

test("producers and consumers with names of 200 KB are refused", async () => {
  const name = "n".repeat(200_000);
  const refusals = [
    await open(hostile, { producerName: name }),
    await subscribe(hostile, { consumerName: name }),
    await subscribe(hostile, { subscription: name }),
  ];
  for (const refusal of refusals) expect(messageOf(refusal)).toContain("4096 bytes");
});

test("what a producer and a consumer say of themselves counts as memory until they leave", async () => {
  const metadata = Array.from({ length: 100 }, (_, index) => ({
    key: `key-${index}`,
    value: "v".repeat(2_000),
  }));
  const before = broker.stats().memoryBytes;
  await open(hostile, { metadata });
  await subscribe(hostile, { metadata });
  expect(broker.stats().memoryBytes - before).toBeGreaterThan(400_000);
  hostile.send("closeProducer", { producerId: 1n, requestId: 2n });
  await answer(hostile, "success");
  hostile.send("closeConsumer", { consumerId: 1n, requestId: 2n });
  await answer(hostile, "success");
  expect(broker.stats().memoryBytes).toBeLessThanOrEqual(before);
});

test("producers that open and close for ever leave nothing behind", async () => {
  const held = process.memoryUsage().heapUsed;
  for (let round = 0; round < 60; round++) {
    for (let id = 0n; id < 50n; id++) {
      const ids = { producerId: id, requestId: id };
      hostile.send("producer", { topic: "t", ...ids, producerName: `name-${round}-${id}` });
      hostile.send("closeProducer", ids);
    }
    hostile.send("ping", {});
    await hostile.next("pong");
  }
  await until(() => broker.stats().producers === 0);
  expect(broker.stats().topics.find(({ name }) => name.endsWith("/t"))?.producers).toEqual([]);
  expect(process.memoryUsage().heapUsed - held).toBeLessThan(64 * MIB);
});

test("epochs that were never given fence nobody for ever", async () => {
  const victim = await connected();
  const exclusive = { producerAccessMode: 1 };
  expect(await open(victim, exclusive)).toMatchObject({ topicEpoch: 1n });
  for (const topicEpoch of [2n ** 64n - 1n, 2n ** 63n, 7n, 0n])
    expect(await open(hostile, { ...exclusive, topicEpoch })).toHaveProperty("error");
  // It may fence, as Pulsar allows; the epoch counts on from the last one that was given.
  const fencing = { producerAccessMode: 3, topicEpoch: 2n ** 64n - 1n };
  expect(await open(hostile, fencing)).toMatchObject({ topicEpoch: 2n });
  await victim.next("closeProducer");
  hostile.send("closeProducer", { producerId: 1n, requestId: 2n });
  await answer(hostile, "success");
  expect(await open(victim, exclusive)).toMatchObject({ topicEpoch: 3n });
});

test("one producer that fences 3,000 others does not stall their connections", async () => {
  const victims = await Promise.all([connected(), connected(), connected()]);
  for (const victim of victims) {
    for (let id = 0n; id < 1_000n; id++)
      victim.send("producer", { topic: "t", producerId: id, requestId: id });
    for (let id = 0n; id < 1_000n; id++) await victim.next("producerSuccess");
  }
  expect(await open(hostile, { producerAccessMode: 3 })).toHaveProperty("topicEpoch");
  for (const victim of victims)
    for (let id = 0n; id < 1_000n; id++) await victim.next("closeProducer");
  expect(broker.stats().producers).toBe(1);
});

test("seeks to anywhere, hundreds at once, leave a subscription that delivers", async () => {
  await open(hostile, {});
  for (let sequenceId = 0n; sequenceId < 3n; sequenceId++) {
    hostile.send("send", { producerId: 1n, sequenceId }, entryOf("x"));
    await hostile.next("sendReceipt");
  }
  const huge = [0n, -1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n];
  for (const ledgerId of huge)
    for (const entryId of huge) {
      await subscribe(hostile, {});
      const target = { messageId: { ledgerId, entryId, batchIndex: -5, partition: -7 } };
      hostile.send("seek", { consumerId: 1n, requestId: 2n, ...target });
      await answer(hostile, "success");
    }
  for (const messagePublishTime of huge) {
    await subscribe(hostile, {});
    hostile.send("seek", { consumerId: 1n, requestId: 2n, messagePublishTime });
    await answer(hostile, "success");
  }
  await subscribe(hostile, {});
  for (let count = 0n; count < 500n; count++)
    hostile.send("seek", {
      consumerId: 1n,
      requestId: count,
      messageId: { ledgerId: -1n, entryId: -1n },
    });
  for (let count = 0; count < 500; count++) await answer(hostile, "success");
  await subscribe(hostile, {});
  hostile.send("flow", { consumerId: 1n, messagePermits: 3 });
  for (let count = 0; count < 3; count++) await hostile.next("message");
});

test("acknowledgements of what was never delivered, or is not there, lose nothing", async () => {
  await open(hostile, {});
  await subscribe(hostile, {});
  const huge = [-1n, 0n, 1n, 5n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n];
  const messageIds = huge.flatMap((ledgerId) =>
    huge.flatMap((entryId) => [
      { ledgerId, entryId, batchIndex: -1 },
      { ledgerId, entryId, ackSet: [] },
      { ledgerId, entryId, ackSet: Array.from({ length: 200 }, () => -1n) },
      { ledgerId, entryId, ackSet: [0n, -(2n ** 63n)], batchSize: -3 },
    ]),
  );
  hostile.send("ack", { consumerId: 1n, ackType: 0, messageIds, requestId: 1n });
  expect(await answer(hostile, "ackResponse")).not.toHaveProperty("error", expect.any(Number));
  hostile.send("redeliverUnacknowledged", {
    consumerId: 1n,
    messageIds,
    consumerEpoch: 2n ** 64n - 1n,
  });
  hostile.send("send", { producerId: 1n, sequenceId: 0n }, entryOf("still there"));
  hostile.send("flow", { consumerId: 1n, messagePermits: 1 });
  const { messageId } = await hostile.next("message");
  // All bits that a batch of one message has not: nothing of it is acknowledged, or all.
  const ackSet = [-(2n ** 63n)];
  hostile.send("ack", { consumerId: 1n, ackType: 0, messageIds: [{ ...messageId, ackSet }] });
  for (let count = 0; count < 100; count++)
    hostile.send("redeliverUnacknowledged", { consumerId: 1n });
  hostile.send("ack", { consumerId: 1n, ackType: 1, messageIds: [messageId], requestId: 2n });
  expect(await answer(hostile, "ackResponse")).toMatchObject({
    error: SERVER_ERROR.NotAllowedError,
  });
});

test("permits beyond all numbers are as good as many", async () => {
  await open(hostile, {});
  await subscribe(hostile, {});
  for (let count = 0; count < 1_000; count++)
    hostile.send("flow", { consumerId: 1n, messagePermits: 0xff_ff_ff_ff });
  hostile.send("send", { producerId: 1n, sequenceId: 0n }, entryOf("x"));
  await hostile.next("message");
  const { topics } = broker.stats();
  const [consumer] =
    topics.find(({ name }) => name.endsWith("/t"))?.subscriptions[0]?.consumers ?? [];
  expect(consumer?.availablePermits).toBeLessThanOrEqual(2 ** 31);
});

test.each([0, -1, 2, 100_001, 2 ** 31 - 1, -(2 ** 31)])(
  "a SEND that says it has %i messages and has one is refused, in its turn",
  async (numMessages) => {
    await open(hostile, {});
    hostile.send("send", { producerId: 1n, sequenceId: 1n, numMessages }, entryOf("x"));
    hostile.send("send", { producerId: 1n, sequenceId: 2n }, entryOf("y"));
    expect(await hostile.next("sendError")).toMatchObject({ sequenceId: 1n });
    expect(await hostile.next("sendReceipt")).toMatchObject({ sequenceId: 2n });
  },
);

test("messages that are due in a million years, or before all time, stop at the bound", async () => {
  await open(hostile, {});
  await subscribe(hostile, {});
  const due = [2n ** 63n - 1n, 2n ** 62n, -1n, -(2n ** 63n), 0n];
  for (const [index, deliverAtTime] of due.entries()) {
    const metadata = { producerName: "p", sequenceId: 0n, publishTime: 0n, deliverAtTime };
    const entry = encodeEntry(metadata, Buffer.from("x"));
    hostile.send("send", { producerId: 1n, sequenceId: BigInt(index) }, entry);
    await hostile.next("sendReceipt");
  }
  hostile.send("flow", { consumerId: 1n, messagePermits: 1_000_000 });
  for (let count = 0; count < 3; count++) await hostile.next("message");
  const { topics } = broker.stats();
  const subscription = topics.find(({ name }) => name.endsWith("/t"))?.subscriptions[0];
  expect(subscription).toMatchObject({ delayedEntries: 2 });
});

test("subscriptions by the thousand stop at the bound of the topic and of the broker", async () => {
  const refusals: (string | undefined)[] = [];
  for (let index = 0; index < 1_600; index++) {
    const request = {
      topic: `t${index >> 9}`,
      subscription: `s-${index}`,
      consumerId: BigInt(index % 500),
    };
    const answered = await subscribe(hostile, request);
    if ("message" in answered) refusals.push(answered.message);
    hostile.send("closeConsumer", { consumerId: request.consumerId, requestId: 1n });
    await answer(hostile, "success");
  }
  expect(refusals).toHaveLength(100);
  expect(refusals[0]).toContain("1500");
  const gone = { topic: "t0", subscription: "s-0" };
  await subscribe(hostile, gone);
  hostile.send("unsubscribe", { consumerId: 1n, requestId: 1n });
  await answer(hostile, "success");
  expect(await subscribe(hostile, { topic: "honest", subscription: "honest" })).not.toHaveProperty(
    "error",
  );
});

test.each([
  "../../../etc/passwd",
  "persistent://../../x",
  "persistent://public/default/../../../x",
  "persistent://public/default/..",
  "persistent://public/default/a\u0000b",
  "persistent://public/default/a\nb",
  "persistent://public/default/(a+)+$",
  "persistent://public/default/%2e%2e%2f",
  "persistent://a/b/c/d/e",
  "kafka://a/b/c",
  "persistent://public/default/x-partition-99999999999999999999",
  "persistent://public/default/x-partition--1",
  `persistent://public/default/${"n".repeat(5_000)}`,
  "\ud800",
  "",
])("a topic named %j is served or refused, and nothing else happens", async (topic) => {
  const answered = [await open(hostile, { topic }), await subscribe(hostile, { topic })];
  for (const each of answered)
    if ("message" in each) expect(each.message).not.toMatch(/ENOENT|EACCES|\/tmp/);
  hostile.send("getSchema", { topic, requestId: 3n, schemaVersion: Buffer.alloc(7, 255) });
  await hostile.next("getSchemaResponse");
  hostile.send("getTopicsOfNamespace", { namespace: topic, requestId: 4n });
  await hostile.nextAny();
});

test("lookups, stats and last ids by the thousand are answered or wait", async () => {
  await subscribe(hostile, {});
  for (let count = 0n; count < 1_000n; count++) {
    hostile.send("getLastMessageId", { consumerId: 1n, requestId: count });
    hostile.send("consumerStats", { consumerId: 1n, requestId: count });
    hostile.send("partitionedMetadata", { topic: "t", requestId: count });
  }
  for (let count = 0; count < 3_000; count++) await hostile.nextAny();
});

test("half-open handshakes are closed in time, and counted until then", async () => {
  const sockets = Array.from({ length: 50 }, () => connectTcp(broker.port, "127.0.0.1"));
  for (const socket of sockets) socket.on("error", () => undefined).write(Buffer.from([22, 3, 1]));
  await until(() => broker.stats().connections === 51);
  await broker.timer.advance(6_000);
  await until(() => broker.stats().connections === 1);
  for (const socket of sockets) socket.destroy();
});
