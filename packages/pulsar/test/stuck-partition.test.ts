import { expect, test } from "vitest";
import type { ProducerOptions } from "../src/client/producer/producer-options.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";

const TOPIC = "persistent://public/default/orders";
const STUCK = `${TOPIC}-partition-0`;

/** A topic with 4 partitions whose partition 0 never answers a SEND. Its key is its number. */
async function withStuckPartition(options: Partial<ProducerOptions> = {}) {
  const broker = new ScriptedBroker();
  broker.partitions.set(TOPIC, 4);
  broker.script.send = (command, session, entry) => {
    const isStuck = session.producers.get(command.body.producerId) === STUCK;
    return isStuck ? undefined : broker.store(command, session, entry);
  };
  const virtual = await connectTo(broker);
  const producer = await virtual.client.createProducer({
    topic: "orders",
    partitions: { route: ({ key }) => Number(key) },
    pendingMessagesMax: 100,
    ...options,
  });
  return { ...virtual, broker, producer };
}

async function closed({ client, timer }: Awaited<ReturnType<typeof withStuckPartition>>) {
  const closing = client.close();
  await timer.advance(60_000);
  await closing;
  expect(timer.sleeping).toBe(0);
}

test("one stuck partition does not stall the others, and the total bound holds", async () => {
  const setup = await withStuckPartition();
  const { broker, producer, timer } = setup;
  const stuck = Array.from({ length: 500 }, () => producer.send({ data: "", key: "0" }));
  for (const send of stuck) send.catch(() => undefined);
  for (let count = 0; count < 300; count++) {
    const key = String(1 + (count % 3));
    await producer.send({ data: "", key });
    expect(producer.pendingMessages).toBeLessThanOrEqual(100);
  }
  expect(broker.stored).toHaveLength(300);
  expect(producer.pendingMessages).toBe(50);
  await timer.advance(0);
  await closed(setup);
});

test("messages for a stuck partition fail with an error that names the partition", async () => {
  const setup = await withStuckPartition({ sendTimeoutMs: 20_000 });
  const { producer, timer, events } = setup;
  const errors: unknown[] = [];
  for (let count = 0; count < 60; count++)
    producer.send({ data: "", key: "0" }).catch((error: unknown) => errors.push(error));
  await timer.advance(20_000);
  expect(errors).toHaveLength(60);
  for (const error of errors) {
    expect(error).toMatchObject({ code: "DEADLINE" });
    expect(String(error)).toContain(`a message of ${STUCK} was not stored within 20000 ms`);
  }
  expect(events.filter(({ type }) => type === "stuck")).toMatchObject([
    { topic: STUCK, messages: 50, waitedMs: 5_000, atMs: 5_000 },
  ]);
  expect(events.filter(({ type }) => type === "timedOut")[0]).toMatchObject({
    topic: STUCK,
    messages: 50,
    sendTimeoutMs: 20_000,
  });
  await closed(setup);
});

test("a producer without a send timeout still tells that it is stuck, once until a receipt", async () => {
  const setup = await withStuckPartition({ sendTimeoutMs: 0 });
  const { broker, producer, timer, events } = setup;
  const send = producer.send({ data: "", key: "0" });
  await timer.advance(600_000);
  expect(events.filter(({ type }) => type === "stuck")).toHaveLength(1);
  broker.script.send = (command, session, entry) => broker.store(command, session, entry);
  broker.last.cut();
  await timer.advance(1_000);
  await send;
  broker.script.send = () => undefined;
  producer.send({ data: "", key: "0" }).catch(() => undefined);
  await timer.advance(10_000);
  expect(events.filter(({ type }) => type === "stuck")).toHaveLength(2);
  await closed(setup);
});

test("messages without a key go around a partition whose room is full", async () => {
  const setup = await withStuckPartition({ partitions: {} });
  const { broker, producer, timer } = setup;
  let stored = 0;
  for (let count = 0; count < 1_000; count++) {
    const isStored = producer.send({ data: "" }).then(
      () => stored++,
      () => undefined,
    );
    await Promise.race([isStored, timer.advance(0)]);
  }
  expect(producer.pendingMessages).toBe(50);
  expect(stored).toBe(950);
  expect(broker.stored).toHaveLength(950);
  await closed(setup);
});
