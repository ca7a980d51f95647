/** Dispatch limits, subscribe and connection rates as clients see them, on real sockets. */
import type { CommandBodies } from "@sluice/pulsar/wire";
import { SUB_TYPE } from "@sluice/pulsar/wire";
import { afterEach, expect, test } from "vitest";
import type { StartBrokerOptions } from "../src/index.ts";
import { startTestBroker } from "./broker-world.ts";
import type { TestBroker } from "./broker-world.ts";
import { RawClient } from "./raw-client.ts";
import { entryOf } from "./session-driver.ts";

/** What a test has started, ended in reverse. */
const started: (() => Promise<unknown> | void)[] = [];

afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

async function start(options: Partial<StartBrokerOptions>): Promise<TestBroker> {
  const broker = await startTestBroker(options);
  started.push(() => broker.close());
  return broker;
}

async function clientOf({ port }: TestBroker): Promise<RawClient> {
  const client = await RawClient.connected(port);
  started.push(() => client.close());
  return client;
}

async function publish(client: RawClient, topic: string, count: number): Promise<void> {
  client.send("producer", { topic, producerId: 1n, requestId: 1n });
  await client.next("producerSuccess");
  for (let i = 0; i < count; i++)
    client.send("send", { producerId: 1n, sequenceId: BigInt(i) }, entryOf("x"));
  for (let i = 0; i < count; i++) await client.next("sendReceipt");
}

function subscribe(client: RawClient, request: Partial<CommandBodies["subscribe"]> = {}): void {
  client.send("subscribe", {
    topic: "t",
    subscription: "s",
    subType: SUB_TYPE.shared,
    consumerId: 1n,
    requestId: 10n,
    initialPosition: 1,
    ...request,
  });
}

/** How many messages come before the answer to a PING. */
async function messages(client: RawClient): Promise<number> {
  client.send("ping", {});
  for (let count = 0; ;) {
    const { command } = await client.nextAny();
    if (command.kind === "pong") return count;
    if (command.kind === "message") count++;
  }
}

/** Lets everything that needs no time happen, and counts what comes. */
async function settled(client: RawClient): Promise<number> {
  let count = 0;
  for (let round = 0; round < 5; round++) count += await messages(client);
  return count;
}

test("a subscription gets its capacity at once, then its rate, and the rest when the limit is lifted", async () => {
  const broker = await start({
    limits: { dispatch: { subscriptions: { t: { s: { messages: 10 } } } } },
  });
  const client = await clientOf(broker);
  await publish(client, "t", 50);
  subscribe(client);
  await client.next("success");
  client.send("flow", { consumerId: 1n, messagePermits: 1_000 });
  expect(await settled(client)).toBe(10);
  await broker.timer.advance(1_000);
  expect(await settled(client)).toBe(10);
  const { dispatch } = broker.administered;
  const counts = dispatch.countsOf("t", "s");
  expect(counts.dispatchThrottledMsgEventsBySubscriptionLimit).toBeGreaterThan(0);
  dispatch.limits.unset({ level: "subscription", topic: "t", name: "s" }, broker.timer.now());
  await broker.timer.advance(0);
  expect(await settled(client)).toBe(30);
});

test("messages that are delivered again count, and come at the rate", async () => {
  const broker = await start({ limits: { dispatch: { topics: { t: { messages: 10 } } } } });
  const client = await clientOf(broker);
  await publish(client, "t", 10);
  subscribe(client);
  await client.next("success");
  client.send("flow", { consumerId: 1n, messagePermits: 1_000 });
  expect(await settled(client)).toBe(10);
  client.send("redeliverUnacknowledged", { consumerId: 1n });
  client.send("flow", { consumerId: 1n, messagePermits: 10 });
  expect(await settled(client)).toBe(0);
  await broker.timer.advance(500);
  expect(await settled(client)).toBe(5);
  await broker.timer.advance(500);
  expect(await settled(client)).toBe(5);
});

test("a reader goes on at the rate of its topic and ends at the last message", async () => {
  const broker = await start({ limits: { dispatch: { topicDefault: { messages: 10 } } } });
  const client = await clientOf(broker);
  await publish(client, "t", 25);
  subscribe(client, { subType: SUB_TYPE.exclusive, durable: false, subscription: "reader-1" });
  await client.next("success");
  let got = 0;
  for (let step = 0; step < 4; step++) {
    client.send("flow", { consumerId: 1n, messagePermits: 10 });
    got += await settled(client);
    await broker.timer.advance(1_000);
  }
  expect(got).toBe(25);
});

test("a limit that is set later takes back permits that the consumer has", async () => {
  const broker = await start({});
  const client = await clientOf(broker);
  subscribe(client);
  await client.next("success");
  client.send("flow", { consumerId: 1n, messagePermits: 1_000 });
  await settled(client);
  const { limits } = broker.administered.dispatch;
  limits.set({ level: "topic", name: "t" }, { messages: 5 }, broker.timer.now());
  await broker.timer.advance(10);
  const other = await clientOf(broker);
  await publish(other, "t", 20);
  expect(await settled(client)).toBe(5);
});

test("a consumer that subscribes too often is refused and told how long to wait", async () => {
  const broker = await start({ limits: { subscribe: { default: { subscribes: 1 } } } });
  const client = await clientOf(broker);
  subscribe(client);
  await client.next("success");
  client.send("closeConsumer", { consumerId: 1n, requestId: 11n });
  await client.next("success");
  subscribe(client, { requestId: 12n });
  const body = await client.next("error");
  expect(body).toMatchObject({ requestId: 12n, error: 14 });
  expect(body.message).toContain("try again in 30 s");
  await broker.timer.advance(30_000);
  subscribe(client, { requestId: 13n });
  await client.next("success");
});

test("connections that come too fast are refused with an answer", async () => {
  const broker = await start({ connections: { perSecond: 1 } });
  await clientOf(broker);
  const second = await RawClient.open(broker.port);
  started.push(() => second.close());
  const body = await second.next("error");
  expect(body).toMatchObject({ error: 14 });
  expect(body.message).toContain("more than 1 new connections come in a second");
  expect(broker.stats().refusedConnections).toBe(1);
});
