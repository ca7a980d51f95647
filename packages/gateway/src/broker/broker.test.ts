import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import { MemoryBrokerStore } from "../storage/store/memory-broker-store.ts";

test("what is published is delivered in order to every subscription, as far as it asks", async () => {
  const scene = new BrokerScene();
  const a = await scene.consumer("t", { subscription: "a" });
  const b = await scene.consumer("t", { subscription: "b" });
  const producer = await scene.producer("t");
  await Promise.all(["one", "two", "three"].map((text) => producer.say(text)));
  expect(await a.take(3)).toEqual(["one", "two", "three"]);
  expect(await b.take(1)).toEqual(["one"]);
  await settle();
  expect(b.deliveries).toHaveLength(1);
  await scene.broker.close();
});

test("a receipt names the entry as it is delivered", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  const position = await producer.say("batch", 7);
  consumer.handle.flow(1);
  await consumer.wait(1);
  expect(consumer.deliveries[0]).toMatchObject({ position, messageCount: 7, redeliveryCount: 0 });
  expect(await consumer.handle.lastEntry()).toMatchObject({ position });
  expect(consumer.handle.markDeletePosition()).toBeUndefined();
  consumer.acknowledgeAll();
  expect(consumer.handle.markDeletePosition()).toEqual(position);
  await scene.broker.close();
});

test("a consumer that waits at the end is given what is published", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  consumer.handle.flow(10);
  for (const text of ["one", "two"]) {
    await settle();
    await producer.say(text);
    expect(await consumer.wait(1)).toEqual([text]);
  }
  await scene.broker.close();
});

test("nothing is delivered while the call that asks for it still runs, nor while paused", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  for (const text of ["one", "two", "three", "four"]) await producer.say(text, 5);
  // All four are read for ten messages, and two are delivered.
  consumer.handle.flow(10);
  expect(await consumer.wait(2)).toEqual(["one", "two"]);
  consumer.handle.pause();
  consumer.handle.flow(5);
  await settle();
  expect(consumer.deliveries).toHaveLength(2);
  consumer.handle.resume();
  expect(consumer.deliveries).toHaveLength(2);
  expect(await consumer.wait(1)).toEqual(["three"]);
  await scene.broker.close();
});

test("a consumer may acknowledge, ask for more and close while it is delivered to", async () => {
  const scene = new BrokerScene(undefined, { limits: { readEntriesMax: 2 } });
  const producer = await scene.producer("t");
  await Promise.all(Array.from({ length: 50 }, (_, index) => producer.say(`${index}`)));
  const seen: number[] = [];
  const consumer = await scene.consumer("t", {
    deliver: (deliveries) => {
      for (const { bytes, position } of deliveries) {
        seen.push(Number(Buffer.from(bytes).toString()));
        consumer.handle.acknowledge([{ position }]);
        consumer.handle.flow(1);
      }
      if (seen.length >= 30) consumer.handle.close();
    },
  });
  consumer.handle.flow(1);
  for (let turns = 0; turns < 20; turns++) await settle();
  expect(seen).toEqual(Array.from({ length: 30 }, (_, index) => index));
  await scene.broker.close();
});

test("an exclusive subscription refuses a second consumer until the first closes", async () => {
  const scene = new BrokerScene();
  const first = await scene.consumer("t");
  await expect(scene.consumer("t")).rejects.toMatchObject({ error: "ConsumerBusy" });
  await expect(scene.consumer("t", { type: "shared" })).rejects.toMatchObject({
    error: "ConsumerBusy",
  });
  const producer = await scene.producer("t");
  await producer.say("one");
  await producer.say("two");
  await first.take(2);
  first.handle.acknowledge(first.deliveries.slice(0, 1));
  first.handle.close();
  first.acknowledgeAll();
  const second = await scene.consumer("t");
  expect(await second.take(1)).toEqual(["two"]);
  await scene.broker.close();
});

test("failover consumers hear who is active", async () => {
  const scene = new BrokerScene();
  const first = await scene.consumer("t", { type: "failover" });
  const second = await scene.consumer("t", { type: "failover" });
  expect([first.handle.isActive, second.handle.isActive]).toEqual([true, false]);
  first.handle.close();
  expect(second.activeChanges).toEqual([true]);
  await scene.consumer("t", { type: "failover", priorityLevel: -1 });
  expect(second.activeChanges).toEqual([true, false]);
  expect(first.activeChanges).toEqual([]);
  await scene.broker.close();
});

test("what a shared consumer leaves behind goes to another, counted", async () => {
  const scene = new BrokerScene();
  const [a, b] = [
    await scene.consumer("t", { type: "shared" }),
    await scene.consumer("t", { type: "shared" }),
  ];
  const producer = await scene.producer("t");
  for (const text of ["one", "two", "three"]) await producer.say(text);
  expect(await a.take(2)).toEqual(["one", "two"]);
  a.handle.acknowledge([{ position: { ledgerId: 0, entryId: 0 } }]);
  expect(() => a.handle.acknowledgeUpTo({ position: { ledgerId: 0, entryId: 1 } })).toThrow(
    "one by one",
  );
  a.handle.close();
  expect(await b.take(2)).toEqual(["two", "three"]);
  expect(b.deliveries.map(({ redeliveryCount }) => redeliveryCount)).toEqual([1, 0]);
  b.handle.redeliver([{ ledgerId: 0, entryId: 2 }]);
  expect(await b.take(1)).toEqual(["three"]);
  b.handle.redeliverAll();
  expect(await b.take(2)).toEqual(["two", "three"]);
  expect(b.deliveries.at(-1)?.redeliveryCount).toBe(2);
  await scene.broker.close();
});

test("a subscription begins where it is told, and goes on where it was", async () => {
  const scene = new BrokerScene();
  const producer = await scene.producer("t");
  for (const text of ["0", "1", "2", "3"]) await producer.say(text);
  const at = { ledgerId: 0, entryId: 2 };
  const reader = { subscription: "r", isDurable: false } as const;
  const starts = [
    { start: { kind: "at", position: at } as const, first: "2" },
    { start: { kind: "earliest" } as const, first: "0" },
    { start: { kind: "time", atMs: 0 } as const, first: "0" },
  ];
  for (const { start, first } of starts) {
    const consumer = await scene.consumer("t", { ...reader, start });
    expect(await consumer.take(1)).toEqual([first]);
    consumer.handle.close();
  }
  const beyond = { ledgerId: 2 ** 63, entryId: 2 ** 63 };
  const late = await scene.consumer("t", { ...reader, start: { kind: "at", position: beyond } });
  const latest = await scene.consumer("t", { start: { kind: "latest" } });
  await producer.say("new");
  expect(await late.take(1)).toEqual(["new"]);
  expect(await latest.take(1)).toEqual(["new"]);
  latest.acknowledgeAll();
  latest.handle.close();
  const again = await scene.consumer("t", { start: { kind: "earliest" } });
  await producer.say("newer");
  expect(await again.take(1)).toEqual(["newer"]);
  await scene.broker.close();
});

test("a seek closes all consumers of the subscription, which then begin there", async () => {
  const scene = new BrokerScene();
  const producer = await scene.producer("t");
  for (const text of ["0", "1", "2"]) {
    await producer.say(text);
    await scene.timer.advance(100);
  }
  const seeks = [
    { to: { kind: "at", position: { ledgerId: 0, entryId: 1 } } as const, first: "1" },
    { to: { kind: "time", atMs: 150 } as const, first: "2" },
    { to: { kind: "earliest" } as const, first: "0" },
  ];
  for (const isDurable of [true, false])
    for (const { to, first } of seeks) {
      const request = { type: "shared", isDurable, subscription: `${isDurable}` } as const;
      const [a, b] = [await scene.consumer("t", request), await scene.consumer("t", request)];
      await a.handle.seek(to);
      expect([a.closed, b.closed].map((closed) => closed.length)).toEqual([1, 1]);
      const start = { kind: "latest" } as const;
      const after = await scene.consumer("t", { ...request, start });
      expect(await after.take(1)).toEqual([first]);
      after.handle.close();
    }
  await scene.broker.close();
});

test("a reader that does not come back after its seek is forgotten", async () => {
  const scene = new BrokerScene();
  const reader = await scene.consumer("t", { isDurable: false });
  await reader.handle.seek({ kind: "earliest" });
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()[0]?.subscriptions).toHaveLength(1);
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()[0]?.subscriptions).toEqual([]);
  await scene.broker.close();
});

test("a subscription is removed by its only consumer", async () => {
  const scene = new BrokerScene();
  const first = await scene.consumer("t", { type: "shared" });
  const second = await scene.consumer("t", { type: "shared" });
  await expect(first.handle.unsubscribe()).rejects.toMatchObject({ error: "MetadataError" });
  second.handle.close();
  await first.handle.unsubscribe();
  expect(scene.broker.stats()[0]?.subscriptions).toEqual([]);
  await scene.broker.close();
});

test("what is not supported, or contradicts what is there, is refused", async () => {
  const scene = new BrokerScene(undefined, {
    limits: { subscriptionsPerTopicMax: 1, topicsMax: 3 },
  });
  await scene.consumer("t");
  const live = scene.consumer("non-persistent://public/default/t", { type: "key-shared" });
  await expect(live).rejects.toMatchObject({ error: "NotAllowedError" });
  await expect(scene.consumer("t", { isDurable: false })).rejects.toThrow("durability");
  await expect(scene.consumer("t", { subscription: "x" })).rejects.toThrow("too many");
  await expect(scene.consumer("u", { mayCreateTopic: false })).rejects.toMatchObject({
    error: "TopicNotFound",
  });
  await expect(scene.producer("a/b")).rejects.toMatchObject({ error: "InvalidTopicName" });
  await scene.producer("u");
  await expect(scene.producer("v")).rejects.toMatchObject({ error: "NotAllowedError" });
  await scene.broker.close();
  await expect(scene.producer("t")).rejects.toMatchObject({ error: "ServiceNotReady" });
});

test("a partitioned topic is used by its partitions", async () => {
  const scene = new BrokerScene();
  const { broker } = scene;
  await broker.createPartitionedTopic("orders", 2);
  expect(broker.partitionsOf("public/default/orders")).toBe(2);
  expect(broker.partitionsOf("other")).toBe(0);
  await expect(broker.createPartitionedTopic("orders", 3)).rejects.toThrow("exists");
  await expect(scene.producer("orders")).rejects.toMatchObject({ error: "NotAllowedError" });
  await expect(scene.producer("orders-partition-2")).rejects.toMatchObject({
    error: "TopicNotFound",
  });
  await scene.producer("orders-partition-1");
  await scene.producer("shop/eu/plain");
  expect(broker.topicsOf("public/default").toSorted()).toEqual([
    "persistent://public/default/orders-partition-0",
    "persistent://public/default/orders-partition-1",
  ]);
  expect(broker.topicsOf("shop/eu")).toEqual(["persistent://shop/eu/plain"]);
  await expect(broker.deleteTopic("orders")).rejects.toThrow("in use");
  await broker.deleteTopic("orders", { force: true });
  expect(broker.topicsOf("public/default")).toEqual([]);
  expect(broker.partitionsOf("orders")).toBe(0);
  await broker.close();
});

test("a topic that is deleted tells its clients, and begins anew", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  await producer.say("old");
  await scene.broker.deleteTopic("t", { force: true });
  expect(producer.closed[0]?.error).toBe("TopicNotFound");
  expect(consumer.closed[0]?.error).toBe("TopicNotFound");
  await expect(producer.say("lost")).rejects.toMatchObject({ error: "ProducerFenced" });
  const again = await scene.consumer("t");
  await (await scene.producer("t")).say("new");
  expect(await again.take(1)).toEqual(["new"]);
  await scene.broker.close();
});

test("a log that is full takes entries again when consumers have made room", async () => {
  const store = new MemoryBrokerStore({ log: { bytesMax: 4000, segmentBytesMax: 1000 } });
  const scene = new BrokerScene(store);
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  const say = (): Promise<unknown> => producer.say("x".repeat(300));
  let stored = 0;
  const fill = async (): Promise<void> => {
    for (;;) {
      await say();
      stored++;
    }
  };
  const blocked = { error: "ProducerBlockedQuotaExceededError" };
  await expect(fill()).rejects.toMatchObject(blocked);
  await consumer.take(stored);
  // One by one, so that segment after segment is consumed while the first is being removed.
  for (const { position } of consumer.deliveries) consumer.handle.acknowledge([{ position }]);
  await settle();
  expect(scene.broker.stats()[0]?.sizeBytes).toBeLessThan(2000);
  // The producer that was refused stays blocked: what it sent before has to come first.
  await expect(producer.say("small")).rejects.toMatchObject(blocked);
  const again = await scene.producer("t");
  await again.say("x".repeat(300));
  await expect(say()).rejects.toMatchObject(blocked);
  await scene.broker.close();
});

test("what comes after an entry that found no room is not stored, even if it would fit", async () => {
  const store = new MemoryBrokerStore({ log: { bytesMax: 1000 } });
  const scene = new BrokerScene(store);
  const producer = await scene.producer("t");
  const texts = ["one", "x".repeat(950), "three"];
  const outcomes = await Promise.allSettled(texts.map((text) => producer.say(text)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  await scene.broker.close();
});

test("without a subscription nothing is kept beyond the newest segment", async () => {
  const store = new MemoryBrokerStore({ log: { bytesMax: 4000, segmentBytesMax: 1000 } });
  const scene = new BrokerScene(store);
  const producer = await scene.producer("t");
  for (let count = 0; count < 50; count++) await producer.say("x".repeat(300));
  expect(scene.broker.stats()[0]?.sizeBytes).toBeLessThan(2000);
  await scene.broker.close();
});

test("retention keeps what is consumed for its time", async () => {
  const store = new MemoryBrokerStore({ log: { segmentBytesMax: 1000 } });
  const retention = { ageMaxMs: 100_000, sizeMaxBytes: Infinity };
  const scene = new BrokerScene(store, { retention });
  const producer = await scene.producer("t");
  for (let count = 0; count < 50; count++) await producer.say("x".repeat(300));
  const keptBytes = scene.broker.stats()[0]?.sizeBytes ?? 0;
  expect(keptBytes).toBeGreaterThan(15_000);
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()[0]?.sizeBytes).toBe(keptBytes);
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()[0]?.sizeBytes).toBeLessThan(2000);
  await scene.broker.close();
});

test("statistics tell who is there and what is left to consume", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  for (const text of ["0", "1", "2"]) await producer.say(text);
  await consumer.take(3);
  consumer.handle.acknowledge([{ position: { ledgerId: 0, entryId: 1 } }]);
  expect(scene.broker.stats()).toMatchObject([
    {
      name: "persistent://public/default/t",
      producers: [{ accessMode: "shared", in: { messages: 3, bytes: 3 } }],
      in: { messages: 3, bytes: 3 },
      out: { messages: 3, bytes: 3 },
      failure: undefined,
      subscriptions: [
        {
          name: "s",
          type: "shared",
          consumers: [{ unackedMessages: 2, availablePermits: 0, avgMessagesPerEntry: 1 }],
          backlogEntries: 2,
          unackedMessages: 2,
        },
      ],
    },
  ]);
  await scene.broker.close();
});

test("closing tells everybody and leaves nothing that sleeps", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  await producer.say("one");
  await consumer.take(1);
  consumer.acknowledgeAll();
  expect(scene.timer.sleeping).toBeGreaterThan(0);
  await Promise.all([scene.broker.close(), scene.broker.close()]);
  expect(consumer.closed[0]?.error).toBe("ServiceNotReady");
  expect(producer.closed[0]?.error).toBe("ServiceNotReady");
  expect(scene.timer.sleeping).toBe(0);
});
