/** Order per producer does not depend on when a topic has room. */
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BrokerScene, settle } from "../../test/broker-scene.ts";
import { SimulatedDisk } from "../../test/simulated-disk.ts";
import type { Position } from "../storage/position.ts";
import { comparePositions } from "../storage/position.ts";
import { FileBrokerStore } from "../storage/store/file-broker-store.ts";
import { MemoryBrokerStore } from "../storage/store/memory-broker-store.ts";
import type { ProducerHandle } from "../topic/producer/producer-handle.ts";

interface Stored {
  readonly number: number;
  readonly position: Position;
}

/** A client as Pulsar's are: after CLOSE_PRODUCER it opens again and sends all without a receipt. */
class Client {
  readonly stored: Stored[] = [];
  readonly #scene: BrokerScene;
  readonly #unanswered = new Map<number, number>();
  #handle: ProducerHandle | undefined;
  #sent = 0;

  constructor(scene: BrokerScene) {
    this.#scene = scene;
  }

  async open(): Promise<void> {
    this.#handle?.close();
    this.#handle = undefined;
    const opened = await this.#scene.producer("t").catch(() => undefined);
    if (opened === undefined) return;
    this.#handle = opened.handle;
    for (const [number, sizeBytes] of this.#unanswered) void this.#publish(number, sizeBytes);
  }

  send(sizeBytes: number): void {
    const number = this.#sent++;
    this.#unanswered.set(number, sizeBytes);
    void this.#publish(number, sizeBytes);
  }

  async #publish(number: number, sizeBytes: number): Promise<void> {
    const publication = { parts: [Buffer.alloc(sizeBytes)], messageCount: 1 };
    const position = await this.#handle?.publish(publication).catch(() => undefined);
    if (position === undefined) return;
    this.stored.push({ number, position });
    this.#unanswered.delete(number);
  }
}

const act = fc.oneof(
  {
    arbitrary: fc.record({
      kind: fc.constant("send" as const),
      client: fc.nat(1),
      sizeBytes: fc.integer({ min: 1, max: 400 }),
    }),
    weight: 6,
  },
  { arbitrary: fc.record({ kind: fc.constant("open" as const), client: fc.nat(1) }), weight: 3 },
  { arbitrary: fc.constant({ kind: "free" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "fill" as const }), weight: 1 },
  { arbitrary: fc.constant({ kind: "settle" as const }), weight: 2 },
  { arbitrary: fc.constant({ kind: "second" as const }), weight: 1 },
);

async function memoryScene(): Promise<{ scene: BrokerScene; disk: SimulatedDisk | undefined }> {
  const store = new MemoryBrokerStore({ log: { bytesMax: 1500, segmentBytesMax: 300 } });
  return Promise.resolve({ scene: new BrokerScene(store), disk: undefined });
}

async function diskScene(): Promise<{ scene: BrokerScene; disk: SimulatedDisk | undefined }> {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const store = await FileBrokerStore.open(
    "broker",
    { log: { segmentBytesMax: 1000, pendingBytesMax: 600, groupBytesMax: 400 } },
    {
      files: disk.mount(),
      random: new SeededRandom(7),
      lock: () => Promise.resolve({ release: () => Promise.resolve() }),
    },
  );
  return { scene: new BrokerScene(store), disk };
}

test.each([
  ["memory", memoryScene],
  ["a disk", diskScene],
])("in %s, a producer's entry is never stored before one that it sent earlier", async (_, open) => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 80, size: "max" }), async (acts) => {
      const { scene, disk } = await open();
      const consumer = await scene.consumer("t", { type: "shared" });
      consumer.handle.flow(1_000_000);
      const clients = [new Client(scene), new Client(scene)] as const;
      for (const client of clients) await client.open();
      for (const each of acts) {
        switch (each.kind) {
          case "send":
            clients[each.client === 0 ? 0 : 1].send(each.sizeBytes);
            break;
          case "open":
            await clients[each.client === 0 ? 0 : 1].open();
            // SENDs come from a socket, so in turns of the event loop of their own.
            await nextTurn();
            break;
          case "free":
            if (disk !== undefined) disk.freeBytes = Infinity;
            await settle();
            consumer.acknowledgeAll();
            break;
          case "fill":
            if (disk !== undefined) disk.freeBytes = 0;
            break;
          case "settle":
            await settle();
            break;
          case "second":
            await scene.timer.advance(1000);
        }
      }
      await settle();
      for (const { stored } of clients) {
        const inOrder = stored.toSorted((a, b) => comparePositions(a.position, b.position));
        let next = 0;
        for (const { number } of inOrder) {
          expect(number).toBeLessThanOrEqual(next);
          next = Math.max(next, number + 1);
        }
      }
      await scene.broker.close().catch(() => undefined);
    }),
    { numRuns: 200 },
  );
});

test("a block is told once when it begins and once when it ends, and ends as soon as there is room", async () => {
  const { scene } = await memoryScene();
  const consumer = await scene.consumer("t", { type: "shared" });
  const producer = await scene.producer("t");
  const say = (): Promise<unknown> => producer.say("x".repeat(250));
  while ((await say().catch(() => undefined)) !== undefined);
  for (let count = 0; count < 5; count++) {
    await expect(scene.producer("t")).rejects.toMatchObject({
      error: "ProducerBlockedQuotaExceededError",
    });
    await scene.timer.advance(200);
  }
  expect(scene.events.map(({ kind }) => kind)).toEqual(["producers-blocked"]);
  expect(scene.broker.stats()[0]?.blocked).toBe("storage-full");
  // The retry after a second finds no room either, and is not told.
  const retry = await scene.producer("t");
  await expect(retry.say("x".repeat(250))).rejects.toThrow("no room");
  consumer.handle.flow(100);
  await settle();
  consumer.acknowledgeAll();
  await settle();
  // No time has passed.
  await (await scene.producer("t")).say("x".repeat(250));
  expect(scene.events.map(({ kind }) => kind)).toEqual([
    "producers-blocked",
    "producers-unblocked",
  ]);
  await scene.broker.close();
});
