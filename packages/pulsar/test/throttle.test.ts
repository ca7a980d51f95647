/** PIP-385 from the client's side: the broker says that a producer must pause. */
import { afterEach, describe, expect, test } from "vitest";
import { observeWithOpenTelemetry } from "../src/client/event/telemetry.ts";
import type { ProducerOptions } from "../src/client/producer/producer-options.ts";
import { ScriptedBroker } from "./scripted-broker.ts";
import { closeAll, outcomeOf, produce, TOPIC } from "./throttled-producer.ts";
import { producerIdOf, receiptsOf } from "./throttling-broker.ts";
import type { ThrottleNotice } from "./throttling-broker.ts";

afterEach(closeAll);

const partition = (index: number): string => `${TOPIC}-partition-${index}`;

async function partitioned(options: Partial<ProducerOptions> = {}) {
  const broker = new ScriptedBroker();
  broker.partitions.set(TOPIC, 3);
  return produce(options, broker);
}

describe("a throttled producer", () => {
  test("writes nothing during the pause and everything in order when it ends", async () => {
    const { broker, producer, timer, pause } = await produce();
    await pause("topic-rate", 700);
    expect(producer.isThrottled).toBe(true);
    expect(producer.throttling).toEqual({ topic: TOPIC, reason: "topic-rate", pauseLeftMs: 700 });
    const sends = [1, 2, 3].map((each) => producer.send({ data: `${each}` }));
    await timer.advance(699);
    expect(broker.last.countOf("send")).toBe(0);
    expect(producer.throttling?.pauseLeftMs).toBe(1);
    await timer.advance(1);
    await Promise.all(sends);
    expect(producer.isThrottled).toBe(false);
    expect(producer.throttling).toBeUndefined();
    expect(broker.stored.map(({ sequenceId }) => sequenceId)).toEqual([0n, 1n, 2n]);
  });

  test("gets receipts for what was written before the pause", async () => {
    const broker = new ScriptedBroker({ send: () => undefined });
    const { producer, timer, pause } = await produce({}, broker);
    const first = producer.send({ data: "1" });
    await timer.advance(0);
    await pause("broker-rate", 500);
    broker.last.tell({
      kind: "sendReceipt",
      body: { producerId: producerIdOf(broker.last, TOPIC), sequenceId: 0n },
    });
    await first;
    expect(producer.isThrottled).toBe(true);
  });

  test("alone pauses: another producer on the same connection goes on", async () => {
    const { broker, client, producer, pause } = await produce();
    const other = await client.createProducer({ topic: "other" });
    await pause("topic-rate", 700);
    const held = outcomeOf(producer);
    await other.send({ data: "" });
    expect(broker.sessions).toHaveLength(1);
    expect([held.value, other.isThrottled]).toEqual(["pending", false]);
  });

  test.each<[what: string, reason: ThrottleNotice["reason"], pauseMs: number, endsAtMs: number]>([
    ["extends the pause", "topic-rate", 2_000, 2_300],
    ["shortens the pause", "topic-rate", 100, 400],
    ["replaces the reason too", "group-rate", 900, 1_200],
    ["with pause 0 and a quota reason ends the pause at once", "topic-rate", 0, 300],
    ["with pause 0 and another quota reason ends it too", "broker-rate", 0, 300],
    ["with pause 0 and an unknown reason ends it too", 77, 0, 300],
    ["with pause 0 and a connection reason changes nothing", "memory", 0, 1_000],
    ["with a pause and a connection reason is obeyed", "connection-pending", 50, 350],
  ])("sees that a second command %s", async (_, reason, pauseMs, endsAtMs) => {
    const { broker, producer, timer, pause } = await produce();
    await pause("topic-rate", 1_000);
    const sent = outcomeOf(producer);
    await timer.advance(300);
    await pause(reason, pauseMs);
    expect(receiptsOf(broker.last)).toHaveLength(2);
    if (endsAtMs > 300) {
      await timer.advance(endsAtMs - 301);
      expect([producer.isThrottled, sent.value]).toEqual([true, "pending"]);
      await timer.advance(1);
    }
    expect([producer.isThrottled, sent.value]).toEqual([false, "7:0:-1"]);
  });

  test("with an unknown reason pauses like any other, for the reason unknown", async () => {
    const { producer, timer, pause } = await produce();
    await pause(77, 100);
    expect(producer.throttling?.reason).toBe("unknown");
    await timer.advance(100);
    expect(producer.stats()).toEqual({ throttledMs: { unknown: 100 } });
  });

  test.each([2n ** 63n, 2n ** 64n - 1n])(
    "paused for %d ms fails new messages at once and can be closed",
    async (pauseMs) => {
      const { broker, producer, timer, pause } = await produce();
      const taken = outcomeOf(producer);
      await pause("topic-rate", pauseMs);
      expect(taken.value).toBe("7:0:-1");
      expect(producer.throttling?.pauseLeftMs).toBe(Number(pauseMs));
      await expect(producer.send({ data: "" })).rejects.toMatchObject({ mayBeStored: false });
      await timer.advance(1e9);
      expect(broker.last.countOf("send")).toBe(1);
      await producer.close();
      expect(producer.isThrottled).toBe(false);
    },
  );

  test("whose close is aborted fails what waits, and waits neither for the pause nor for the broker", async () => {
    const { broker, producer, timer, pause } = await produce();
    await pause("topic-rate", 10_000);
    const waiting = outcomeOf(producer);
    const end = new AbortController();
    const closed = producer.close({ signal: end.signal });
    await timer.advance(5_000);
    expect([waiting.value, producer.isThrottled]).toEqual(["pending", true]);
    end.abort();
    await closed;
    await timer.advance(60_000);
    expect(waiting.value).toMatchObject({ code: "CLOSED" });
    expect(broker.last.countOf("send")).toBe(0);
  });

  test("without a send timeout holds its messages through any pause", async () => {
    const { broker, producer, timer, pause } = await produce({ sendTimeoutMs: 0 });
    await pause("topic-rate", 10_000_000);
    const sent = outcomeOf(producer);
    await timer.advance(9_999_999);
    expect([sent.value, broker.last.countOf("send")]).toEqual(["pending", 0]);
    await timer.advance(1);
    expect(sent.value).toBe("7:0:-1");
  });

  test("also holds batches that are ready, and flush waits for them", async () => {
    const { broker, producer, timer, pause } = await produce({
      batching: { messagesMax: 2, delayMaxMs: 5 },
    });
    await pause("topic-rate", 500);
    const sends = [1, 2, 3, 4, 5].map((each) => producer.send({ data: `${each}` }));
    const flushed = producer.flush();
    await timer.advance(499);
    expect(broker.last.countOf("send")).toBe(0);
    await timer.advance(1);
    await Promise.all([...sends, flushed]);
    expect(broker.stored.map(({ messages }) => messages)).toEqual([2, 2, 1]);
  });

  test("waits for a writable connection after the pause", async () => {
    const broker = new ScriptedBroker({}, { unreadBytesMax: 1_000 });
    const { client, producer, timer, pause } = await produce({}, broker);
    const other = await client.createProducer({ topic: "other" });
    await pause("topic-rate", 500);
    const sent = outcomeOf(producer);
    broker.last.link.pause();
    other.send({ data: Buffer.alloc(2_000) }).catch(() => undefined);
    await timer.advance(500);
    expect(sent.value).toBe("pending");
    broker.last.link.resume();
    await timer.advance(0);
    expect(sent.value).toBe("7:1:-1");
  });
});

describe("pause 0 with a connection reason", () => {
  test("pauses nothing, and is remembered until the next receipt", async () => {
    const broker = new ScriptedBroker();
    const { producer, timer, pause, changes } = await produce({}, broker);
    broker.last.link.pause();
    const sent = outcomeOf(producer);
    await timer.advance(100);
    await pause("memory", 0);
    expect(producer.isThrottled).toBe(false);
    expect(producer.throttling).toBeUndefined();
    await timer.advance(300);
    expect(producer.stats()).toEqual({ throttledMs: { memory: 300 } });
    broker.last.link.resume();
    await timer.advance(100);
    expect(sent.value).toBe("7:0:-1");
    expect(changes()).toEqual([
      [100, "throttled", "memory", 0],
      [400, "unthrottled", "memory", 300],
    ]);
  });

  test("is remembered for 1 s without a receipt, and anew with each command", async () => {
    const { producer, timer, pause, changes } = await produce();
    await pause("connection-pending", 0);
    await timer.advance(600);
    await pause("connection-pending", 0);
    await timer.advance(5_000);
    expect(producer.stats()).toEqual({ throttledMs: { "connection-pending": 1_600 } });
    expect(changes()).toEqual([
      [0, "throttled", "connection-pending", 0],
      [600, "unthrottled", "connection-pending", 600],
      [600, "throttled", "connection-pending", 0],
      [1_600, "unthrottled", "connection-pending", 1_000],
    ]);
  });

  test("is the reason of a timeout while it is remembered", async () => {
    const broker = new ScriptedBroker({ send: () => undefined });
    const { producer, timer, pause } = await produce({ sendTimeoutMs: 900 }, broker);
    const sent = outcomeOf(producer);
    await pause("memory", 0);
    await timer.advance(900);
    expect(sent.value).toMatchObject({ code: "THROTTLED", reason: "memory", pauseLeftMs: 0 });
  });
});

describe("a partitioned producer", () => {
  test("is throttled if a partition is, and shows the pause that ends last", async () => {
    const { producer, timer, pause } = await partitioned();
    expect([producer.isThrottled, producer.throttling]).toEqual([false, undefined]);
    await pause("topic-rate", 300, partition(0));
    await pause("group-rate", 500, partition(2));
    expect(producer.isThrottled).toBe(true);
    expect(producer.throttling).toEqual({
      topic: partition(2),
      reason: "group-rate",
      pauseLeftMs: 500,
    });
    await timer.advance(400);
    expect(producer.isThrottled).toBe(true);
    await timer.advance(100);
    expect([producer.isThrottled, producer.throttling]).toEqual([false, undefined]);
    expect(producer.stats()).toEqual({ throttledMs: { "topic-rate": 300, "group-rate": 500 } });
  });

  test("sends messages without a key around throttled partitions, and keys to their own", async () => {
    const { broker, producer, timer, pause } = await partitioned();
    await pause("topic-rate", 300, partition(0));
    await Promise.all(Array.from({ length: 10 }, () => producer.send({ data: "" })));
    const topics = (): string[] => broker.stored.map(({ topic }) => topic);
    expect(topics()).not.toContain(partition(0));
    const keyed = Array.from({ length: 9 }, (_, key) => producer.send({ data: "", key: `${key}` }));
    await timer.advance(299);
    expect(topics()).not.toContain(partition(0));
    await timer.advance(1);
    await Promise.all(keyed);
    expect(topics()).toContain(partition(0));
  });

  test("with all partitions throttled uses the one that ends first", async () => {
    const { broker, producer, timer, pause } = await partitioned();
    for (const [index, pauseMs] of [900, 300, 600].entries())
      await pause("broker-rate", pauseMs, partition(index));
    const sends = [1, 2, 3].map((each) => producer.send({ data: `${each}` }));
    await timer.advance(300);
    await Promise.all(sends);
    expect(new Set(broker.stored.map(({ topic }) => topic))).toEqual(new Set([partition(1)]));
  });
});

test("events come in pairs, and an observer makes them a metric by reason and topic", async () => {
  const { events, timer, pause, changes } = await produce();
  await pause("topic-rate", 500);
  await timer.advance(200);
  await pause("group-rate", 1_000);
  await timer.advance(400);
  await pause("topic-rate", 0);
  await timer.advance(1_000);
  expect(changes()).toEqual([
    [0, "throttled", "topic-rate", 500],
    [200, "unthrottled", "topic-rate", 200],
    [200, "throttled", "group-rate", 1_000],
    [600, "unthrottled", "group-rate", 400],
  ]);
  const added: unknown[] = [];
  const observe = observeWithOpenTelemetry({
    createCounter: (name, { unit }) => ({
      add: (value, attributes) => added.push([name, unit, value, attributes]),
    }),
  });
  for (const event of events) observe(event);
  const name = "pulsar.client.producer.throttled_times";
  expect(added).toEqual([
    [name, "s", 0.2, { reason: "topic-rate", topic: TOPIC }],
    [name, "s", 0.4, { reason: "group-rate", topic: TOPIC }],
  ]);
});
