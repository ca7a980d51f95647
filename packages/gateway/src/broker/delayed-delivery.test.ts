/** Delayed delivery: never early, exact to the timer, bounded, and the same after a restart. */
import { SeededRandom } from "@sluice/core";
import { encodeEntry, splitEntry } from "@sluice/pulsar/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import type { TestConsumer } from "../../test/broker-scene.ts";
import { SimulatedDisk } from "../../test/simulated-disk.ts";
import type { Position } from "../storage/position.ts";
import { FileBrokerStore } from "../storage/store/file-broker-store.ts";
import type { Delivery } from "../subscription/delivery.ts";
import type { ProducerHandle } from "../topic/producer/producer-handle.ts";

function send(
  { handle }: { readonly handle: ProducerHandle },
  text: string,
  deliverAtMs?: number,
): Promise<Position | undefined> {
  const metadata = {
    producerName: "p",
    sequenceId: 0n,
    publishTime: 0n,
    deliverAtTime: deliverAtMs === undefined ? undefined : BigInt(deliverAtMs),
  };
  return handle.publish({ parts: [encodeEntry(metadata, Buffer.from(text))], messageCount: 1 });
}

const textOf = ({ bytes }: Pick<Delivery, "bytes">): string =>
  splitEntry(Buffer.from(bytes)).payload.toString();

const textsOf = ({ deliveries }: TestConsumer): readonly string[] => deliveries.map(textOf);

test("a retry letter with a delay of 2 s waits 2 s, and later messages do not wait for it", async () => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  consumer.handle.flow(10);
  await send(producer, "a", 2000);
  await send(producer, "b");
  await settle();
  expect(textsOf(consumer)).toEqual(["b"]);
  expect(scene.broker.stats()[0]?.subscriptions[0]?.delayedEntries).toBe(1);
  await scene.timer.advance(1999);
  expect(textsOf(consumer)).toEqual(["b"]);
  await scene.timer.advance(1);
  expect(textsOf(consumer)).toEqual(["b", "a"]);
  expect(consumer.deliveries[1]?.redeliveryCount).toBe(0);
  // A negative acknowledgement after the delivery time is not delayed again.
  consumer.handle.redeliverAll();
  await settle();
  expect(textsOf(consumer)).toEqual(["b", "a", "a", "b"]);
  await scene.broker.close();
  expect(scene.timer.sleeping).toBe(0);
});

test.each(["exclusive", "failover"] as const)("an %s subscription ignores delays", async (type) => {
  const scene = new BrokerScene();
  const consumer = await scene.consumer("t", { type });
  await send(await scene.producer("t"), "a", 2000);
  consumer.handle.flow(1);
  await settle();
  expect(textsOf(consumer)).toEqual(["a"]);
  await scene.broker.close();
});

test("at the bound of delayed entries reading stops until one is due", async () => {
  const scene = new BrokerScene(undefined, { limits: { delayedPerSubscriptionMax: 2 } });
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  consumer.handle.flow(100);
  for (const [text, atMs] of [
    ["a", 3000],
    ["b", 2000],
    ["c", 1000],
    ["d", undefined],
  ] as const)
    await send(producer, text, atMs);
  await settle();
  expect(textsOf(consumer)).toEqual([]);
  expect(scene.broker.stats()[0]?.subscriptions[0]?.delayedEntries).toBe(2);
  await scene.timer.advance(2000);
  expect(textsOf(consumer)).toEqual(["b", "c", "d"]);
  await scene.timer.advance(1000);
  expect(textsOf(consumer)).toEqual(["b", "c", "d", "a"]);
  await scene.broker.close();
});

test("skipped entries leave room for other delayed ones", async () => {
  const scene = new BrokerScene(undefined, { limits: { delayedPerSubscriptionMax: 2 } });
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  consumer.handle.flow(100);
  for (const text of ["a", "b", "c"]) await send(producer, text, 1e9);
  await settle();
  await scene.broker.skip("t", "s", "all");
  await send(producer, "d", 1000);
  await send(producer, "e");
  await settle();
  expect(textsOf(consumer)).toEqual(["e"]);
  await scene.timer.advance(1000);
  expect(textsOf(consumer)).toEqual(["e", "d"]);
  await scene.broker.close();
});

test("nothing sleeps while no consumer is there, and a consumer that joins gets what is due", async () => {
  const scene = new BrokerScene();
  const first = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  const idle = scene.timer.sleeping;
  first.handle.flow(10);
  await send(producer, "a", 1000);
  await settle();
  expect(scene.timer.sleeping).toBe(idle + 1);
  first.handle.close();
  await settle();
  expect(scene.timer.sleeping).toBe(idle);
  await scene.timer.advance(5000);
  const second = await scene.consumer("t", { type: "shared" });
  second.handle.flow(1);
  await settle();
  expect(textsOf(second)).toEqual(["a"]);
  await scene.broker.close();
});

async function sceneOn(disk: SimulatedDisk, startMs: number): Promise<BrokerScene> {
  const store = await FileBrokerStore.open(
    "broker",
    {},
    {
      files: disk.mount(),
      random: new SeededRandom(7),
      lock: () => Promise.resolve({ release: () => Promise.resolve() }),
    },
  );
  const scene = new BrokerScene(store, { limits: { delayedPerSubscriptionMax: 5 } });
  await scene.timer.advance(startMs);
  return scene;
}

const act = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      delayMs: fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined }),
    }),
    weight: 6,
  },
  {
    arbitrary: fc.record({
      kind: fc.constant("pass" as const),
      ms: fc.integer({ min: 1, max: 30 }),
    }),
    weight: 4,
  },
  { arbitrary: fc.record({ kind: fc.constant("ack" as const), pick: fc.nat(50) }), weight: 4 },
  { arbitrary: fc.record({ kind: fc.constant("nack" as const), pick: fc.nat(50) }), weight: 2 },
  { arbitrary: fc.constant({ kind: "rejoin" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "restart" as const }), weight: 1 },
);

interface Known {
  readonly deliverAtMs: number;
  isAcked: boolean;
  isHeld: boolean;
}

test("whatever happens, an entry comes never before its time and at once after it, until acknowledged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 50, size: "max" }), async (acts) => {
      const disk = new SimulatedDisk(new SeededRandom(1));
      let scene = await sceneOn(disk, 0);
      const known = new Map<string, Known>();
      const join = async (): Promise<TestConsumer> => {
        for (const each of known.values()) each.isHeld = false;
        const consumer = await scene.consumer("t", {
          type: "shared",
          deliver: (deliveries) => {
            for (const delivery of deliveries) {
              const entry = known.get(textOf(delivery));
              consumer.deliveries.push(delivery);
              if (entry === undefined) throw new Error("never sent");
              expect(entry.isAcked || entry.isHeld).toBe(false);
              expect(scene.timer.now()).toBeGreaterThanOrEqual(entry.deliverAtMs);
              entry.isHeld = true;
            }
          },
        });
        consumer.handle.flow(1_000_000);
        return consumer;
      };
      let consumer = await join();
      let producer = await scene.producer("t");
      for (const each of acts) {
        const pick = "pick" in each ? consumer.deliveries.at(-1 - each.pick) : undefined;
        const entry = pick === undefined ? undefined : known.get(textOf(pick));
        switch (each.kind) {
          case "send": {
            const nowMs = scene.timer.now();
            const deliverAtMs = nowMs + (each.delayMs ?? 0);
            const text = `${known.size}`;
            known.set(text, { deliverAtMs, isAcked: false, isHeld: false });
            await send(producer, text, each.delayMs === undefined ? undefined : deliverAtMs);
            break;
          }
          case "pass":
            await scene.timer.advance(each.ms);
            break;
          case "ack":
            if (pick === undefined || entry?.isHeld !== true) break;
            consumer.handle.acknowledge([{ position: pick.position }]);
            Object.assign(entry, { isAcked: true, isHeld: false });
            break;
          case "nack":
            if (pick === undefined || entry?.isHeld !== true) break;
            entry.isHeld = false;
            consumer.handle.redeliver([pick.position]);
            break;
          case "rejoin":
            consumer.handle.close();
            consumer = await join();
            break;
          case "restart": {
            const nowMs = scene.timer.now();
            await scene.broker.close();
            scene = await sceneOn(disk, nowMs);
            consumer = await join();
            producer = await scene.producer("t");
          }
        }
        await settle();
        // Fewer than the bound are delayed, so what is due is with the consumer at once.
        const nowMs = scene.timer.now();
        const entries = [...known.values()];
        if (entries.filter(({ deliverAtMs }) => deliverAtMs > nowMs).length >= 5) continue;
        const late = entries.filter(
          ({ deliverAtMs, isAcked, isHeld }) => deliverAtMs <= nowMs && !isAcked && !isHeld,
        );
        expect(late).toEqual([]);
      }
      await scene.timer.advance(100);
      await settle();
      expect([...known.values()].filter(({ isAcked, isHeld }) => !isAcked && !isHeld)).toEqual([]);
      await scene.broker.close();
    }),
    { numRuns: 150 },
  );
});
