import { expect, test } from "vitest";
import { ScriptedBroker } from "./scripted-broker.ts";
import { connectTo } from "./virtual-client.ts";
import type { VirtualClient } from "./virtual-client.ts";

const BROKER = "broker:6650";

function pausesOf({ events }: VirtualClient): number[] {
  return events.flatMap((event) => (event.type === "detached" ? [event.pauseMs] : []));
}

test("after 12 outages of 2 s, with a message stored in between, a send waits less than 2 s more", async () => {
  const broker = new ScriptedBroker();
  const virtual = await connectTo(broker);
  const { client, timer } = virtual;
  const producer = await client.createProducer({ topic: "t" });
  for (let outage = 0; outage < 12; outage++) {
    const startedAtMs = timer.now();
    broker.unreachable.add(BROKER);
    broker.last.cut();
    let storedAtMs = 0;
    const send = producer.send({ data: "" }).then(() => (storedAtMs = timer.now()));
    await timer.advance(2_000);
    broker.unreachable.clear();
    await timer.advance(2_000);
    await send;
    expect(storedAtMs - startedAtMs).toBeLessThan(4_000);
  }
  await client.close();
});

test("after an outage of any length the broker is found within 10 s", async () => {
  const broker = new ScriptedBroker();
  const { client, timer } = await connectTo(broker);
  const producer = await client.createProducer({ topic: "t", sendTimeoutMs: 0 });
  broker.unreachable.add(BROKER);
  broker.last.cut();
  const send = producer.send({ data: "" });
  await timer.advance(3_600_000);
  broker.unreachable.clear();
  await timer.advance(10_000);
  await send;
  await client.close();
});

test("a broker that accepts a producer and drops the connection is asked ever less often", async () => {
  const broker = new ScriptedBroker();
  const virtual = await connectTo(broker);
  const { client, timer } = virtual;
  await client.createProducer({ topic: "t" });
  const accept = broker.script.producer;
  broker.script.producer = (command, session, entry) => {
    // Dropped 100 ms after PRODUCER_SUCCESS.
    void timer.sleep(100).then(() => session.cut());
    return accept?.(command, session, entry);
  };
  broker.last.cut();
  await timer.advance(300_000);
  const pauses = pausesOf(virtual);
  expect(pauses.at(-1)).toBeGreaterThan(8_000);
  expect(pauses.length).toBeLessThan(50);
  broker.script.producer = accept ?? (() => undefined);
  await timer.advance(20_000);
  await client.close();
  await timer.advance(1_000);
});

test("an attachment without traffic that lasted 1 s starts the backoff over", async () => {
  const broker = new ScriptedBroker();
  const virtual = await connectTo(broker);
  const { client, timer } = virtual;
  await client.createProducer({ topic: "t" });
  broker.unreachable.add(BROKER);
  broker.last.cut();
  await timer.advance(3_000);
  broker.unreachable.clear();
  await timer.advance(10_000);
  broker.last.cut();
  await timer.advance(0);
  const pauses = pausesOf(virtual);
  expect(Math.max(...pauses)).toBeGreaterThan(1_000);
  expect(pauses.at(-1)).toBeLessThanOrEqual(100);
  await timer.advance(1_000);
  await client.close();
});

test("a broker that stores one message per connection is asked again after 100 ms", async () => {
  const broker = new ScriptedBroker();
  const virtual = await connectTo(broker);
  const { client, timer } = virtual;
  const producer = await client.createProducer({ topic: "t" });
  broker.script.send = (command, session, entry) => {
    const receipt = broker.store(command, session, entry);
    void timer.sleep(10).then(() => session.cut());
    return receipt;
  };
  for (let count = 0; count < 10; count++) {
    const send = producer.send({ data: "" });
    await timer.advance(200);
    await send;
  }
  expect(Math.max(...pausesOf(virtual))).toBeLessThanOrEqual(100);
  await client.close();
});
