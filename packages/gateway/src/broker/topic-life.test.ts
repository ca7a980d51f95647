/** Message TTL, backlog quota, unload of idle topics, topics that stop and heal. */
import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import { SimulatedDisk } from "../../test/simulated-disk.ts";
import type { BacklogQuota, TopicPolicy } from "../policy/topic-policy.ts";
import { FileBrokerStore } from "../storage/store/file-broker-store.ts";
import { MemoryBrokerStore } from "../storage/store/memory-broker-store.ts";
import type { BrokerSettings } from "../topic/settings.ts";

type Policy = { -readonly [Key in keyof TopicPolicy]: TopicPolicy[Key] };

/** One policy for all topics, which a test may change. */
function sceneWith(policy: Policy): BrokerScene {
  const store = new MemoryBrokerStore({ log: { segmentBytesMax: 500 } });
  return new BrokerScene(store, {}, { policies: { of: () => policy } });
}

function quotaOf(quota: Partial<BacklogQuota>): Policy {
  return {
    messageTtlMs: undefined,
    backlogQuota: {
      sizeMaxBytes: undefined,
      ageMaxMs: undefined,
      action: "producer_request_hold",
      ...quota,
    },
  };
}

async function sceneOn(disk: SimulatedDisk, settings: BrokerSettings = {}): Promise<BrokerScene> {
  const store = await FileBrokerStore.open(
    "broker",
    {},
    {
      files: disk.mount(),
      random: new SeededRandom(7),
      lock: () => Promise.resolve({ release: () => Promise.resolve() }),
    },
  );
  return new BrokerScene(store, settings);
}

const text = "x".repeat(76);

test("messages older than the TTL count as acknowledged within a minute", async () => {
  const scene = sceneWith({ messageTtlMs: 100_000, backlogQuota: undefined });
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  await producer.say("old");
  await consumer.take(1);
  await scene.timer.advance(90_000);
  await producer.say("new");
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()[0]?.subscriptions[0]).toMatchObject({
    backlogEntries: 1,
    unackedMessages: 0,
  });
  consumer.handle.close();
  const next = await scene.consumer("t", { type: "shared" });
  expect(await next.take(1)).toEqual(["new"]);
  await scene.broker.close();
});

test.each([
  ["producer_request_hold", "ProducerBlockedQuotaExceededError"],
  ["producer_exception", "ProducerBlockedQuotaExceededException"],
] as const)(
  "%s: over the size nothing is stored, and a new producer hears %s",
  async (action, error) => {
    const scene = sceneWith(quotaOf({ sizeMaxBytes: 1000, action }));
    const consumer = await scene.consumer("t", { type: "shared" });
    const producer = await scene.producer("t");
    let stored = 0;
    while ((await producer.say(text).catch(() => undefined)) !== undefined) stored++;
    expect(stored).toBeGreaterThanOrEqual(8);
    expect(stored).toBeLessThanOrEqual(10);
    await expect(producer.say(text)).rejects.toMatchObject({
      error: "ProducerBlockedQuotaExceededError",
    });
    await expect(scene.producer("t")).rejects.toMatchObject({ error });
    expect(scene.events).toMatchObject([{ kind: "producers-blocked", reason: "backlog-quota" }]);
    await consumer.take(stored);
    consumer.acknowledgeAll();
    // At once, without a check between.
    await (await scene.producer("t")).say(text);
    expect(scene.events.at(-1)?.kind).toBe("producers-unblocked");
    await scene.broker.close();
  },
);

test("a backlog that is too old blocks at a check and frees at a check", async () => {
  const scene = sceneWith(quotaOf({ ageMaxMs: 10_000 }));
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  await producer.say("a");
  await scene.timer.advance(9_000);
  await producer.say("b");
  await scene.timer.advance(6_000);
  await expect(scene.producer("t")).rejects.toThrow("over its quota");
  await consumer.take(2);
  consumer.acknowledgeAll();
  await scene.timer.advance(5_000);
  await (await scene.producer("t")).say("c");
  await scene.broker.close();
});

test("eviction drops the oldest entries of slow subscriptions, and producers go on", async () => {
  const scene = sceneWith(quotaOf({ sizeMaxBytes: 2000, action: "consumer_backlog_eviction" }));
  (await scene.consumer("t", { subscription: "slow" })).handle.close();
  const producer = await scene.producer("t");
  for (let number = 0; number < 200; number++) {
    await producer.say(`${number}`.padStart(76));
    const backlogBytes = scene.broker.stats()[0]?.subscriptions[0]?.backlogBytes ?? 0;
    expect(backlogBytes).toBeLessThanOrEqual(2100);
  }
  const backlogEntries = scene.broker.stats()[0]?.subscriptions[0]?.backlogEntries ?? 0;
  expect(backlogEntries).toBeGreaterThan(10);
  const consumer = await scene.consumer("t", { subscription: "slow" });
  const left = (await consumer.take(backlogEntries)).map(Number);
  expect(left).toEqual(Array.from(left, (_, index) => 200 - backlogEntries + index));
  expect(scene.events).toEqual([]);
  await settle();
  expect(scene.broker.stats()[0]?.sizeBytes).toBeLessThan(4000);
  await scene.broker.close();
});

test("eviction drops entries that are too old, and producers go on", async () => {
  const scene = sceneWith(quotaOf({ ageMaxMs: 10_000, action: "consumer_backlog_eviction" }));
  await scene.consumer("t");
  const producer = await scene.producer("t");
  await producer.say("old");
  await scene.timer.advance(9_000);
  await producer.say("new");
  await scene.timer.advance(6_000);
  expect(scene.broker.stats()[0]?.subscriptions[0]?.backlogEntries).toBe(1);
  expect(scene.events).toEqual([]);
  await scene.broker.close();
});

/** The eviction was not waited for: its refusal ended the process as an unhandled rejection. */
test("a topic may be unloaded while old entries of it are evicted", async () => {
  const policy = quotaOf({ ageMaxMs: 1, action: "consumer_backlog_eviction" });
  const unloads: Promise<void>[] = [];
  let isUnloadDue = false;
  const policies = {
    of: () => {
      if (isUnloadDue) unloads.push(scene.broker.unloadTopic("t"));
      return policy;
    },
  };
  const scene = new BrokerScene(undefined, {}, { policies });
  await scene.consumer("t");
  await (await scene.producer("t")).say("old");
  isUnloadDue = true;
  await scene.timer.advance(5_000);
  isUnloadDue = false;
  expect(unloads).not.toEqual([]);
  await Promise.all(unloads);
  expect(scene.events).toEqual([]);
  await scene.broker.close();
});

test("a retention policy holds instead of the broker's, and from its next change on", async () => {
  const policy: Policy = { messageTtlMs: undefined, backlogQuota: undefined };
  policy.retention = { ageMaxMs: Infinity, sizeMaxBytes: 3_000 };
  const scene = sceneWith(policy);
  const producer = await scene.producer("t");
  for (let count = 0; count < 100; count++) await producer.say(text);
  await scene.timer.advance(60_000);
  const kept = scene.broker.stats()[0]?.sizeBytes ?? 0;
  expect(kept).toBeGreaterThanOrEqual(3_000);
  expect(kept).toBeLessThan(4_000);
  policy.retention = undefined;
  await scene.timer.advance(60_000);
  expect(scene.broker.stats()[0]?.sizeBytes).toBeLessThan(600);
  await scene.broker.close();
});

test("a quota that is removed frees producers at the next check", async () => {
  const policy = quotaOf({ sizeMaxBytes: 100 });
  const scene = sceneWith(policy);
  await scene.consumer("t");
  const producer = await scene.producer("t");
  await producer.say(text);
  await scene.timer.advance(5000);
  await expect(scene.producer("t")).rejects.toThrow("over its quota");
  policy.backlogQuota = undefined;
  await scene.timer.advance(5000);
  await (await scene.producer("t")).say(text);
  await scene.broker.close();
});

test("an idle topic is unloaded, and nothing of it is lost", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const scene = await sceneOn(disk);
  const producer = await scene.producer("t");
  const consumer = await scene.consumer("t");
  for (const each of ["a", "b"]) await producer.say(each);
  await consumer.take(1);
  consumer.acknowledgeAll();
  await scene.timer.advance(600_000);
  expect(scene.broker.stats()).toHaveLength(1);
  producer.handle.close();
  consumer.handle.close();
  await scene.timer.advance(420_000);
  expect(scene.broker.stats()).toEqual([]);
  expect(scene.broker.topicsOf("public/default")).toHaveLength(1);
  const again = await scene.consumer("t");
  expect(await again.take(1)).toEqual(["b"]);
  await scene.broker.close();
});

test("of more topics than may be open the idlest are unloaded, and used ones are not", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const scene = await sceneOn(disk, { limits: { openTopicsMax: 5 } });
  const used = await scene.producer("used");
  for (let number = 0; number < 50; number++) {
    const producer = await scene.producer(`t${number}`, { initialSubscription: "s" });
    await producer.say(`${number}`);
    producer.handle.close();
    expect(scene.broker.stats().length).toBeLessThanOrEqual(5);
  }
  expect(used.closed).toEqual([]);
  expect(scene.broker.topicsOf("public/default")).toHaveLength(51);
  for (let number = 0; number < 50; number += 7) {
    const consumer = await scene.consumer(`t${number}`);
    expect(await consumer.take(1)).toEqual([`${number}`]);
    consumer.handle.close();
  }
  await scene.broker.close();
});

test("a topic stopped by its disk is refused for a while, then opened again; or at once by an unload", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const scene = await sceneOn(disk);
  const stop = async (): Promise<void> => {
    const producer = await scene.producer("t", { initialSubscription: "s" });
    await producer.say("kept");
    disk.fault = { atCall: disk.calls, kind: "failed" };
    await expect(producer.say("lost")).rejects.toMatchObject({ error: "PersistenceError" });
    disk.fault = undefined;
  };
  await stop();
  expect(scene.events).toMatchObject([
    { kind: "topic-stopped", topic: "persistent://public/default/t" },
  ]);
  await scene.timer.advance(29_000);
  await expect(scene.producer("t")).rejects.toMatchObject({ error: "PersistenceError" });
  await scene.timer.advance(1_000);
  await stop();
  await expect(scene.producer("t")).rejects.toMatchObject({ error: "PersistenceError" });
  await scene.broker.unloadTopic("t");
  const consumer = await scene.consumer("t");
  expect(await consumer.take(2)).toEqual(["kept", "kept"]);
  await scene.broker.close();
});

test("a consumer at its limit of unacknowledged messages is told once an episode", async () => {
  const scene = new BrokerScene(undefined, { limits: { unackedPerConsumerMax: 4 } });
  const consumer = await scene.consumer("t", { type: "shared", consumerName: "slow" });
  const producer = await scene.producer("t");
  consumer.handle.flow(1000);
  for (let count = 0; count < 10; count++) await producer.say("m");
  await settle();
  expect(scene.events).toEqual([
    {
      kind: "consumer-blocked",
      topic: "persistent://public/default/t",
      subscription: "s",
      consumer: "slow",
      unackedMessages: 4,
    },
  ]);
  expect(consumer.handle.stats()).toMatchObject({ isBlocked: true, unackedMessages: 4 });
  // One by one it stays near the limit: the same episode.
  for (const { position } of consumer.deliveries.slice(0, 2)) {
    consumer.handle.acknowledge([{ position }]);
    await settle();
  }
  expect(scene.events).toHaveLength(1);
  consumer.acknowledgeAll();
  await settle();
  consumer.acknowledgeAll();
  await settle();
  for (let count = 0; count < 4; count++) await producer.say("m");
  await settle();
  expect(scene.events).toHaveLength(2);
  await scene.broker.close();
});

test("what all subscriptions have consumed is kept as the retention policy says", async () => {
  const forever = { ageMaxMs: Infinity, sizeMaxBytes: Infinity };
  const policy: Policy = { messageTtlMs: undefined, backlogQuota: undefined, retention: forever };
  const scene = sceneWith(policy);
  const consumer = await scene.consumer("t");
  await (await scene.producer("t")).say(text);
  await consumer.take(1);
  consumer.acknowledgeAll();
  await scene.timer.advance(60_000);
  expect(await scene.broker.lastEntry("t")).toBeDefined();
  // Without one it is the broker's setting: nothing.
  policy.retention = undefined;
  await scene.timer.advance(60_000);
  expect(await scene.broker.lastEntry("t")).toBeUndefined();
  await scene.broker.close();
});
