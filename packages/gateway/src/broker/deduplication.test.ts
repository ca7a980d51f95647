import { encodeEntry } from "@sluice/pulsar/wire";
import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import { openStoreOn } from "../../test/file-world.ts";
import { HeldStore } from "../../test/held-store.ts";
import { SimulatedDisk } from "../../test/simulated-disk.ts";
import type { Position } from "../storage/position.ts";
import { MemoryBrokerStore } from "../storage/store/memory-broker-store.ts";
import type { BrokerStore } from "../storage/store/broker-store.ts";
import type { ProducerHandle } from "../topic/producer/producer-handle.ts";

const POLICY = { messageTtlMs: undefined, backlogQuota: undefined };

/** A broker whose policy can be changed. */
function sceneOf(store: BrokerStore = new MemoryBrokerStore()) {
  const policy = { ...POLICY, deduplication: true };
  return { policy, scene: new BrokerScene(store, {}, { policies: { of: () => policy } }) };
}

function send({ handle }: { handle: ProducerHandle }, id: number): Promise<Position | undefined> {
  const { name: producerName } = handle;
  const metadata = { producerName, sequenceId: BigInt(id), publishTime: 0n };
  const parts = [encodeEntry(metadata, Buffer.from(`${id}`))];
  return handle.publish({ parts, messageCount: 1 });
}

const at = (entryId: number): Position => ({ ledgerId: 0, entryId });

test("what a producer sends again is answered without a position and not stored", async () => {
  const { scene } = sceneOf();
  const a = await scene.producer("t", { producerName: "a" });
  expect(a.handle.lastSequenceId).toBe(-1n);
  expect(await send(a, 0)).toEqual(at(0));
  expect(await send(a, 1)).toEqual(at(1));
  expect([await send(a, 0), await send(a, 1)]).toEqual([undefined, undefined]);
  // Another name has ids of its own.
  expect(await send(await scene.producer("t", { producerName: "b" }), 0)).toEqual(at(2));
  a.handle.close();
  const again = await scene.producer("t", { producerName: "a" });
  expect(again.handle.lastSequenceId).toBe(1n);
  expect(await send(again, 1)).toBeUndefined();
  expect(await send(again, 2)).toEqual(at(3));
  expect(scene.broker.stats()[0]?.isDeduplicated).toBe(true);
  await scene.broker.close();
});

test("the ids are there when the topic is opened again", async () => {
  const store = new MemoryBrokerStore();
  const { scene } = sceneOf(store);
  await send(await scene.producer("t", { producerName: "a" }), 7);
  await scene.broker.unloadTopic("t");
  const again = await scene.producer("t", { producerName: "a" });
  expect([again.handle.lastSequenceId, await send(again, 7)]).toEqual([7n, undefined]);
  await scene.broker.close();
});

test("without the policy everything is stored; turned on, it begins with what comes next", async () => {
  const { scene, policy } = sceneOf();
  policy.deduplication = false;
  const a = await scene.producer("t", { producerName: "a" });
  expect([await send(a, 0), await send(a, 0)]).toEqual([at(0), at(1)]);
  policy.deduplication = true;
  // Every 5 s the policies are looked at.
  await scene.timer.advance(5_000);
  await settle();
  expect([await send(a, 0), await send(a, 0)]).toEqual([at(2), undefined]);
  policy.deduplication = false;
  await scene.timer.advance(5_000);
  await settle();
  expect(await send(a, 0)).toEqual(at(3));
  a.handle.close();
  expect((await scene.producer("t", { producerName: "a" })).handle.lastSequenceId).toBe(-1n);
  await scene.broker.close();
});

test("an entry that is sent again while it is on its way is answered after it, once stored", async () => {
  const held = new HeldStore();
  const { scene } = sceneOf(held.store);
  const a = await scene.producer("t", { producerName: "a" });
  const answers: (Position | undefined)[] = [];
  for (const id of [0, 0]) void send(a, id).then((position) => answers.push(position));
  await settle();
  expect([held.held, answers]).toEqual([1, []]);
  a.handle.close();
  // The next producer of the name waits too: the id that it gets is stored.
  const opening = scene.producer("t", { producerName: "a" });
  await settle();
  held.letGo(1);
  expect((await opening).handle.lastSequenceId).toBe(0n);
  expect(answers).toEqual([at(0), undefined]);
  await scene.broker.close();
});

test("the ids of entries that were removed are there after a crash", async () => {
  const disk = new SimulatedDisk(new SeededRandom(3));
  const open = async (): Promise<BrokerScene> => {
    const log = { segmentBytesMax: 400 };
    return sceneOf(await openStoreOn(disk.mount(), { log })).scene;
  };
  const scene = await open();
  const consumer = await scene.consumer("t");
  await send(await scene.producer("t", { producerName: "a" }), 7);
  const b = await scene.producer("t", { producerName: "b" });
  for (let id = 0; id < 20; id++) await send(b, id);
  await consumer.take(21);
  consumer.acknowledgeAll();
  for (let minute = 0; minute < 2; minute++) {
    await scene.timer.advance(60_000);
    await settle();
  }
  expect(await scene.broker.entryAt("t", at(0))).toBeUndefined();
  disk.crash();
  const after = await open();
  const again = await after.producer("t", { producerName: "a" });
  expect(again.handle.lastSequenceId).toBe(7n);
  await after.broker.close();
});
