import { nextTurn } from "@sluice/core/system";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import { MemoryBrokerStore } from "../storage/store/memory-broker-store.ts";

const textOf = (entry: { readonly bytes: Uint8Array } | undefined): string | undefined =>
  entry === undefined ? undefined : Buffer.from(entry.bytes).toString();

async function sceneOfFive(): Promise<BrokerScene> {
  const scene = new BrokerScene();
  const producer = await scene.producer("t", { initialSubscription: "s" });
  for (const text of ["0", "1", "2", "3", "4"]) {
    await producer.say(text);
    await scene.timer.advance(100);
  }
  producer.handle.close();
  return scene;
}

test("a partitioned topic that grows has the durable subscriptions of partition 0 everywhere", async () => {
  const scene = new BrokerScene();
  const { broker } = scene;
  await broker.createPartitionedTopic("orders", 1);
  await scene.consumer("orders-partition-0", { subscription: "kept" });
  await scene.consumer("orders-partition-0", { subscription: "reader", isDurable: false });
  await broker.growPartitions("orders", 3);
  expect(broker.partitionsOf("orders")).toBe(3);
  expect([...broker.partitionedTopicsOf("public/default")]).toEqual([
    ["persistent://public/default/orders", 3],
  ]);
  expect(await broker.subscriptionsOf("orders-partition-2")).toEqual(["kept"]);
  // What is published before any consumer joins the new partition is kept for it.
  await (await scene.producer("orders-partition-2")).say("early");
  const late = await scene.consumer("orders-partition-2", {
    subscription: "kept",
    start: { kind: "latest" },
  });
  expect(await late.take(1)).toEqual(["early"]);
  await expect(broker.growPartitions("orders", 2)).rejects.toThrow("has 3 partitions");
  await expect(broker.growPartitions("plain", 2)).rejects.toThrow("not partitioned");
  await broker.close();
});

test("topics are created, listed and unloaded; clients of an unloaded topic go on where they were", async () => {
  const scene = await sceneOfFive();
  const { broker } = scene;
  await broker.createTopic("shop/eu/new");
  await expect(broker.createTopic("shop/eu/new")).rejects.toThrow("exists");
  expect(broker.namespaces().toSorted()).toEqual(["public/default", "shop/eu"]);
  const consumer = await scene.consumer("t");
  expect(await consumer.take(2)).toEqual(["0", "1"]);
  consumer.acknowledgeAll();
  await broker.unloadTopic("t");
  expect(consumer.closed[0]?.error).toBe("ServiceNotReady");
  expect(broker.stats().map(({ name }) => name)).toEqual(["persistent://shop/eu/new"]);
  expect(broker.topicsOf("public/default")).toEqual(["persistent://public/default/t"]);
  const again = await scene.consumer("t");
  expect(await again.take(1)).toEqual(["2"]);
  await expect(broker.unloadTopic("none")).rejects.toMatchObject({ error: "TopicNotFound" });
  await broker.close();
});

test("subscriptions are created, skipped, moved, expired and deleted by name", async () => {
  const scene = await sceneOfFive();
  const { broker } = scene;
  await broker.createSubscription("t", "late", {
    kind: "at",
    position: { ledgerId: 0, entryId: 3 },
  });
  await expect(broker.createSubscription("t", "late", { kind: "latest" })).rejects.toThrow(
    "exists",
  );
  expect(await broker.subscriptionsOf("t")).toEqual(["late", "s"]);
  expect(textOf(await broker.peek("t", "late", 1))).toBe("3");
  expect(textOf(await broker.peek("t", "late", 2))).toBe("4");
  expect(await broker.peek("t", "late", 3)).toBeUndefined();

  await broker.skip("t", "s", 2);
  expect(textOf(await broker.peek("t", "s", 1))).toBe("2");
  await broker.expireMessages("t", "s", 200);
  expect(textOf(await broker.peek("t", "s", 1))).toBe("3");
  await broker.skip("t", "s", "all");
  expect(await broker.peek("t", "s", 1)).toBeUndefined();
  await broker.resetSubscription("t", "s", { kind: "time", atMs: 100 });
  expect(textOf(await broker.peek("t", "s", 1))).toBe("1");

  const consumer = await scene.consumer("t");
  await expect(broker.deleteSubscription("t", "s")).rejects.toMatchObject({
    error: "ConsumerBusy",
  });
  await broker.deleteSubscription("t", "s", { force: true });
  expect(consumer.closed).toHaveLength(1);
  await expect(broker.skip("t", "s", "all")).rejects.toMatchObject({
    error: "SubscriptionNotFound",
  });
  await broker.close();
});

test("a skip acknowledges what shared consumers have, and what they acknowledged does not count", async () => {
  const scene = await sceneOfFive();
  const consumer = await scene.consumer("t", { type: "shared" });
  expect(await consumer.take(3)).toEqual(["0", "1", "2"]);
  consumer.handle.acknowledge([{ position: { ledgerId: 0, entryId: 1 } }]);
  await scene.broker.skip("t", "s", 2);
  expect(consumer.handle.stats()?.unackedMessages).toBe(0);
  expect(textOf(await scene.broker.peek("t", "s", 1))).toBe("3");
  consumer.handle.redeliverAll();
  expect(await consumer.take(2)).toEqual(["3", "4"]);
  await scene.broker.skip("t", "s", "all");
  expect(consumer.handle.stats()?.unackedMessages).toBe(0);
  expect(scene.broker.stats()[0]?.subscriptions[0]?.backlogEntries).toBe(0);
  await scene.broker.close();
});

test("entries are found by position and by time", async () => {
  const scene = await sceneOfFive();
  const { broker } = scene;
  expect(textOf(await broker.entryAt("t", { ledgerId: 0, entryId: 4 }))).toBe("4");
  expect(await broker.entryAt("t", { ledgerId: 0, entryId: 5 })).toBeUndefined();
  expect(textOf(await broker.lastEntry("t"))).toBe("4");
  expect(await broker.positionAtTime("t", 150)).toEqual({ ledgerId: 0, entryId: 2 });
  await expect(broker.entryAt("none", { ledgerId: 0, entryId: 0 })).rejects.toMatchObject({
    error: "TopicNotFound",
  });
  expect(broker.hasTopic("none")).toBe(false);
  await broker.close();
});

test("a terminated topic takes nothing more, and consumers hear of its end once all is acknowledged", async () => {
  const scene = await sceneOfFive();
  const { broker } = scene;
  const producer = await scene.producer("t");
  let ends = 0;
  const onReachedEnd = (): void => {
    ends++;
  };
  const consumer = await scene.consumer("t", { onReachedEnd });
  expect(await broker.terminateTopic("t")).toEqual({ ledgerId: 0, entryId: 4 });
  expect(producer.closed[0]?.error).toBe("TopicTerminatedError");
  await expect(scene.producer("t")).rejects.toMatchObject({ error: "TopicTerminatedError" });
  expect(await consumer.take(5)).toEqual(["0", "1", "2", "3", "4"]);
  await settle();
  // Go's client closes the connection when it hears of the end: not before it has all.
  expect(ends).toBe(0);
  consumer.acknowledgeAll();
  await settle();
  expect(ends).toBe(1);
  await broker.unloadTopic("t");
  await expect(scene.producer("t")).rejects.toMatchObject({ error: "TopicTerminatedError" });
  await scene.consumer("t", { subscription: "new", start: { kind: "latest" }, onReachedEnd });
  await settle();
  expect(ends).toBe(2);
  await broker.close();
});

test("a question about 10,000 topics costs nothing while no topic comes or goes", async () => {
  const scene = new BrokerScene();
  for (let namespace = 0; namespace < 10; namespace++)
    await scene.broker.createPartitionedTopic(`shop/n${namespace}/orders`, 1_000);
  const first = scene.broker.topicsOf("shop/n3");
  expect(first).toHaveLength(1_000);
  for (let count = 0; count < 100_000; count++)
    if (scene.broker.topicsOf("shop/n3") !== first) throw new Error("the list was made again");
  await expect(scene.broker.createTopic("one/too/many")).rejects.toThrow("10000 topics");
  await scene.broker.close();
});

test("a partitioned topic is deleted whole or, while one partition is used, not at all", async () => {
  const scene = new BrokerScene();
  const { broker } = scene;
  await broker.createPartitionedTopic("orders", 2);
  const kept = await scene.producer("orders-partition-0", { initialSubscription: "s" });
  await kept.say("kept");
  kept.handle.close();
  const used = await scene.producer("orders-partition-1");
  await expect(broker.deleteTopic("orders")).rejects.toThrow("in use");
  expect(textOf(await broker.peek("orders-partition-0", "s", 1))).toBe("kept");
  await broker.deleteTopic("orders", { force: true });
  expect(used.closed[0]?.error).toBe("TopicNotFound");
  expect(broker.topicsOf("public/default")).toEqual([]);
  await broker.close();
});

test("a partition that is added while its topic is being deleted is deleted with it", async () => {
  const scene = new BrokerScene();
  const { broker } = scene;
  await broker.createPartitionedTopic("orders", 1);
  (await scene.consumer("orders-partition-0")).handle.close();
  const grown = broker.growPartitions("orders", 3);
  await broker.deleteTopic("orders");
  await grown;
  expect(broker.topicsOf("public/default")).toEqual([]);
  await broker.close();
});

test("of two deletions at once one is refused, and what a client creates next stays", async () => {
  const scene = await sceneOfFive();
  const { broker } = scene;
  const schema = { name: "s", type: 2, schemaData: Buffer.from("{}") };
  await broker.schemas.put("t", schema);
  const [first, second] = [broker.deleteTopic("t"), broker.deleteTopic("t")];
  await expect(second).rejects.toThrow("is being deleted");
  await first;
  await expect(broker.schemas.get("t")).resolves.toBeUndefined();
  await (await scene.producer("t")).say("new");
  await settle();
  expect(broker.topicsOf("public/default")).toHaveLength(1);
  await broker.close();
});

test("a topic cannot be opened again before its schemas are gone", async () => {
  const store = new MemoryBrokerStore();
  const { schemas } = store;
  const remove = schemas.remove.bind(schemas);
  schemas.remove = async (topic) => {
    await scene.timer.sleep(1_000);
    await remove(topic);
  };
  const scene = new BrokerScene(store);
  const { broker } = scene;
  (await scene.producer("t")).handle.close();
  await broker.schemas.put("t", { name: "s", type: 2, schemaData: Buffer.from("{}") });
  const deleted = broker.deleteTopic("t");
  await settle();
  await expect(scene.producer("t")).rejects.toThrow("is being deleted");
  await scene.timer.advance(1_000);
  await deleted;
  await scene.producer("t");
  expect(await broker.schemas.get("t")).toBeUndefined();
  await broker.close();
});

test("statistics of 1,000 open topics let other work have turns, ten at least", async () => {
  let turns = 0;
  const counted = (): Promise<void> => {
    turns++;
    return nextTurn();
  };
  const scene = new BrokerScene(undefined, {}, { nextTurn: counted });
  for (let number = 0; number < 1_000; number++) await scene.producer(`t${number}`);
  turns = 0;
  expect(await scene.broker.openTopicStats(Infinity)).toEqual(scene.broker.stats());
  expect(turns).toBeGreaterThanOrEqual(10);
  await scene.broker.close();
});

test("statistics of one topic with 20,000 consumers are made 1,000 at a time, and list as many as wanted", async () => {
  let turns = 0;
  const counted = (): Promise<void> => {
    turns++;
    return nextTurn();
  };
  const scene = new BrokerScene(undefined, {}, { nextTurn: counted });
  for (let number = 0; number < 200; number++)
    for (let consumer = 0; consumer < 100; consumer++)
      await scene.consumer("t", { subscription: `s${number}`, type: "shared", isDurable: false });
  turns = 0;
  const { subscriptions } = await scene.broker.statsOf("t", 150);
  expect(turns).toBeGreaterThanOrEqual(19);
  expect(subscriptions.map(({ consumerCount }) => consumerCount)).toEqual(Array(200).fill(100));
  const listed = subscriptions.map(({ consumers }) => consumers.length);
  expect(listed.slice(0, 3)).toEqual([100, 50, 0]);
  turns = 0;
  expect((await scene.broker.openTopicStats())[0]?.subscriptions[0]).toMatchObject({
    consumers: [],
    consumerCount: 100,
  });
  expect(turns).toBeGreaterThanOrEqual(19);
  await scene.broker.close();
});
