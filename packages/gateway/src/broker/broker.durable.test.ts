/** Promise 2, for subscriptions: what was acknowledged to a producer is delivered until consumed. */
import { SeededRandom } from "@sluice/core";
import type { Schema } from "@sluice/pulsar/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import { SimulatedDisk } from "../../test/simulated-disk.ts";
import { openStoreOn } from "../../test/file-world.ts";
import type { LogFiles } from "../storage/file/log-files.ts";
import { StorageError } from "../storage/storage-error.ts";

async function sceneOn(disk: SimulatedDisk, files = disk.mount()): Promise<BrokerScene> {
  const store = await openStoreOn(files, { log: { segmentBytesMax: 400 } });
  return new BrokerScene(store);
}

function newDisk(): SimulatedDisk {
  return new SimulatedDisk(new SeededRandom(1));
}

test("a broker that is opened again goes on where its subscriptions were", async () => {
  const disk = newDisk();
  const before = await sceneOn(disk);
  const consumer = await before.consumer("t", { type: "shared" });
  const producer = await before.producer("t", { accessMode: "exclusive" });
  expect(producer.handle.topicEpoch).toBe(1n);
  for (let number = 0; number < 20; number++) await producer.say(`${number}`);
  await consumer.take(20);
  consumer.handle.acknowledge(
    consumer.deliveries.filter((_, index) => index < 4 || index === 10 || index === 12),
  );
  await before.broker.close();

  const after = await sceneOn(disk);
  const again = await after.consumer("t", { type: "shared" });
  const left = [4, 5, 6, 7, 8, 9, 11, 13, 14, 15, 16, 17, 18, 19].map(String);
  expect(await again.take(14)).toEqual(left);
  const stale = { accessMode: "exclusive", topicEpoch: 0n } as const;
  await expect(after.producer("t", stale)).rejects.toMatchObject({ error: "ProducerFenced" });
  await after.broker.close();
});

test("a subscription that was made, moved or removed is so after a crash", async () => {
  const disk = newDisk();
  const before = await sceneOn(disk);
  const producer = await before.producer("t", { initialSubscription: "initial" });
  for (const text of ["0", "1", "2"]) await producer.say(text);
  const moved = await before.consumer("t", { subscription: "moved" });
  await moved.handle.seek({ kind: "at", position: { ledgerId: 0, entryId: 2 } });
  const removed = await before.consumer("t", { subscription: "removed" });
  await removed.handle.unsubscribe();
  disk.crash();

  const after = await sceneOn(disk);
  const first = await after.consumer("t", { subscription: "initial", start: { kind: "latest" } });
  expect(await first.take(3)).toEqual(["0", "1", "2"]);
  const second = await after.consumer("t", { subscription: "moved" });
  expect(await second.take(1)).toEqual(["2"]);
  const names = after.broker.stats()[0]?.subscriptions.map(({ name }) => name);
  expect(names?.toSorted()).toEqual(["initial", "moved"]);
  await after.broker.close();
});

const generation = fc.record({
  bursts: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 }),
  acksEvery: fc.integer({ min: 1, max: 4 }),
  crashAtCall: fc.option(fc.nat(80), { nil: undefined }),
  type: fc.constantFrom("exclusive" as const, "shared" as const),
});

test("a seek that comes after the end of its subscription does not bring it back", async () => {
  const disk = newDisk();
  const scene = await sceneOn(disk);
  const { handle } = await scene.consumer("t");
  const removed = handle.unsubscribe();
  const sought = handle.seek({ kind: "earliest" });
  await expect(sought).rejects.toMatchObject({ error: "SubscriptionNotFound" });
  await removed;
  await scene.broker.close();
  const after = await sceneOn(disk);
  await after.producer("t");
  expect(after.broker.stats()[0]?.subscriptions).toEqual([]);
  await after.broker.close();
});

test("after any crashes, every entry that has its receipt is delivered unless it was acknowledged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(generation, { minLength: 1, maxLength: 4 }), async (generations) => {
      const disk = newDisk();
      const made = await sceneOn(disk);
      (await made.consumer("t")).handle.close();
      await made.broker.close();
      const received = new Set<string>();
      const acked = new Set<string>();
      let published = 0;
      for (const { bursts, acksEvery, crashAtCall, type } of generations) {
        const scene = await sceneOn(disk);
        const producer = await scene.producer("t");
        const consumer = await scene.consumer("t", {
          type,
          deliver: (deliveries) => {
            for (const { bytes, position } of deliveries) {
              const text = Buffer.from(bytes).toString();
              if (Number(text) % acksEvery !== 0) continue;
              acked.add(text);
              consumer.handle.acknowledge([{ position }]);
            }
          },
        });
        if (crashAtCall !== undefined)
          disk.fault = { atCall: disk.calls + crashAtCall, kind: "crash" };
        for (const burst of bursts) {
          consumer.handle.flow(10);
          for (let count = 0; count < burst; count++) {
            const text = `${published++}`.padStart(40, "0");
            // After the crash it is never answered.
            void producer.say(text).then(() => received.add(text));
          }
          await scene.timer.advance(700);
          await settle();
        }
        disk.fault = undefined;
        disk.crash();
      }
      const last = await sceneOn(disk);
      const consumer = await last.consumer("t");
      consumer.handle.flow(1000);
      await settle();
      await settle();
      const delivered = consumer.deliveries.map(({ bytes }) => Buffer.from(bytes).toString());
      expect(delivered).toEqual(delivered.toSorted());
      const missing = [...received].filter((text) => !acked.has(text) && !delivered.includes(text));
      expect(missing).toEqual([]);
      await last.broker.close();
    }),
    { numRuns: 150 },
  );
});

test.each([/bad.*3\.log$/, /bad.*3\.seal$/])(
  "a topic with damage in %s is refused, and the others go on",
  async (damaged) => {
    const disk = newDisk();
    const before = await sceneOn(disk);
    for (const topic of ["bad", "good"]) {
      const producer = await before.producer(topic, { initialSubscription: "s" });
      for (let number = 0; number < 20; number++) await producer.say(`${number}`.padStart(60));
    }
    await before.broker.close();
    const path = disk.paths().find((each) => damaged.test(each)) ?? "";
    const whole = Buffer.from(disk.content(path).seen);
    const middle = Math.floor(whole.length / 2);
    disk.overwrite(path, Buffer.from(whole).fill(0xff, middle, middle + 8));

    const after = await sceneOn(disk);
    const subscribed = await after.consumer("bad").catch(() => undefined);
    subscribed?.handle.flow(20);
    await settle();
    // Where the damage is in the entries, those before it have been delivered.
    expect(subscribed?.deliveries.length ?? 0).toBeLessThan(20);
    // It is not looked at again each time that a client tries.
    disk.overwrite(path, whole);
    await expect(after.producer("bad")).rejects.toMatchObject({ error: "PersistenceError" });
    await expect(after.consumer("bad")).rejects.toMatchObject({ error: "PersistenceError" });
    const good = await after.consumer("good");
    expect(await good.take(20)).toHaveLength(20);
    await after.broker.close();
  },
);

test("a subscription whose cursor is damaged starts over; its topic and the others go on", async () => {
  const disk = newDisk();
  const before = await sceneOn(disk);
  const producer = await before.producer("t");
  const consumers = [
    await before.consumer("t", { subscription: "bad" }),
    await before.consumer("t", { subscription: "good" }),
  ];
  for (let number = 0; number < 4; number++) await producer.say(`${number}`);
  for (const consumer of consumers) {
    await consumer.take(4);
    consumer.handle.acknowledge(consumer.deliveries.slice(0, 2));
  }
  await before.broker.close();
  const path = disk.paths().find((each) => /bad-.*\.cursor$/.test(each)) ?? "";
  disk.overwrite(path, Buffer.from(disk.content(path).seen).fill(0xff, 24));

  const after = await sceneOn(disk);
  const good = await after.consumer("t", { subscription: "good" });
  expect(await good.take(2)).toEqual(["2", "3"]);
  const bad = await after.consumer("t", { subscription: "bad" });
  expect(await bad.take(4)).toEqual(["0", "1", "2", "3"]);
  const position = { ledgerId: 0, entryId: 0 };
  const topic = "persistent://public/default/t";
  const reset = { kind: "cursor-reset", topic, subscription: "bad", reason: "damaged", position };
  expect(after.events).toEqual([reset]);
  await after.broker.close();
});

function schema(text: string): Schema {
  return { name: "s", type: 2, schemaData: Buffer.from(text) };
}

test("a schema version means the same after a crash, and goes with its topic", async () => {
  const disk = newDisk();
  const before = await sceneOn(disk);
  await before.producer("t");
  const [price, quantity] = [
    await before.broker.schemas.put("t", schema("price, quantity")),
    await before.broker.schemas.put("t", schema("quantity, price")),
  ];
  disk.crash();
  const after = await sceneOn(disk);
  // The other one comes first this time.
  expect(await after.broker.schemas.put("t", schema("quantity, price"))).toEqual(quantity);
  expect((await after.broker.schemas.get("t", price))?.schema).toMatchObject(
    schema("price, quantity"),
  );
  await after.broker.deleteTopic("t");
  expect(await after.broker.schemas.get("t", price)).toBeUndefined();
  await after.broker.close();
});

test("a drained topic gives its disk space back", async () => {
  const disk = newDisk();
  const scene = await sceneOn(disk);
  const consumer = await scene.consumer("t");
  const producer = await scene.producer("t");
  const text = "x".repeat(100_000);
  for (let count = 0; count < 3; count++) await producer.say(text);
  await consumer.take(3);
  consumer.acknowledgeAll();
  await scene.timer.advance(600_000);
  await settle();
  const bytes = disk.paths().reduce((sum, path) => sum + disk.content(path).seen.length, 0);
  expect(bytes).toBeLessThan(1000);
  await producer.say("next");
  expect(await consumer.take(1)).toEqual(["next"]);
  await scene.broker.close();
});

test("a topic whose disk fails tells everybody and refuses the rest; the others go on", async () => {
  const disk = newDisk();
  const scene = await sceneOn(disk);
  const producer = await scene.producer("bad");
  const consumer = await scene.consumer("bad");
  const good = await scene.producer("good");
  await producer.say("kept");
  disk.fault = { atCall: disk.calls, kind: "failed" };
  await expect(producer.say("lost")).rejects.toMatchObject({ error: "PersistenceError" });
  disk.fault = undefined;
  expect(producer.closed[0]).toMatchObject({ error: "PersistenceError" });
  expect(consumer.closed[0]?.message).toContain("has stopped");
  await expect(scene.producer("bad")).rejects.toMatchObject({ error: "PersistenceError" });
  await expect(scene.consumer("bad")).rejects.toMatchObject({ error: "PersistenceError" });
  await good.say("fine");
  const failures = scene.broker.stats().map(({ failure }) => failure !== undefined);
  expect(failures).toEqual([true, false]);
  await scene.broker.close();
});

test.each(["exclusive", "shared"] as const)(
  "a machine with too many open files delivers later, to a consumer that is %s",
  async (type) => {
    const disk = newDisk();
    const files = disk.mount();
    let hasTooMany = false;
    const openToRead: LogFiles["openToRead"] = (path) =>
      hasTooMany ? Promise.reject(new StorageError("full", "EMFILE")) : files.openToRead(path);
    const scene = await sceneOn(disk, { ...files, openToRead });
    const producer = await scene.producer("t");
    const consumer = await scene.consumer("t", { type });
    await producer.say("one");
    hasTooMany = true;
    consumer.handle.flow(1);
    await settle();
    expect([consumer.deliveries, consumer.closed]).toEqual([[], []]);
    hasTooMany = false;
    await scene.timer.advance(60_000);
    expect(await consumer.wait(1)).toEqual(["one"]);
    await scene.broker.close();
  },
);

test("a full disk refuses entries and closes nobody", async () => {
  const disk = newDisk();
  const scene = await sceneOn(disk);
  const producer = await scene.producer("t");
  const consumer = await scene.consumer("t");
  await producer.say("one");
  disk.freeBytes = 0;
  await expect(producer.say("refused")).rejects.toMatchObject({
    error: "ProducerBlockedQuotaExceededError",
  });
  await expect(scene.consumer("t", { subscription: "new" })).rejects.toMatchObject({
    error: "PersistenceError",
  });
  await consumer.take(1);
  consumer.acknowledgeAll();
  await scene.timer.advance(1000);
  await settle();
  expect(scene.broker.stats()[0]?.failure).toBeDefined();
  disk.freeBytes = Infinity;
  await scene.timer.advance(1000);
  await settle();
  expect(scene.broker.stats()[0]?.failure).toBeUndefined();
  await expect(producer.say("three")).rejects.toMatchObject({
    error: "ProducerBlockedQuotaExceededError",
  });
  await (await scene.producer("t")).say("two");
  expect(await consumer.take(1)).toEqual(["two"]);
  expect(producer.closed).toEqual([]);
  await scene.broker.close();
});
