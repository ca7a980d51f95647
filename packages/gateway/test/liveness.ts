/** The crash scenario behind the liveness tests: one seed, one history. */
import { SeededRandom } from "@sluice/core";
import type { Random } from "@sluice/core";
import { expect } from "vitest";
import { BrokerScene, settle } from "./broker-scene.ts";
import type { TestConsumer } from "./broker-scene.ts";
import { openStoreOn } from "./file-world.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

const SUBSCRIPTIONS = ["one", "two"];

/** Four entries of these tests fill a segment. */
const SEGMENT_BYTES = 400;
const ENTRY_BYTES = 40;

/**
 * Publishes, acknowledges in any order and crashes at any call to the disk, up to three times. Then
 * everything is consumed: no subscription may have a backlog, and of the log only the newest segment
 * may be left.
 */
export async function expectAcknowledgedIsRemoved(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const disk = new SimulatedDisk(random);
  const crashes = 1 + upTo(random, 2);
  for (let crash = 0; crash < crashes; crash++) {
    const atCall = disk.calls + upTo(random, 150);
    disk.fault = { atCall, kind: "crash" };
    const seen = { isOver: false };
    void live(disk, random).then(() => (seen.isOver = true));
    while (disk.calls <= atCall && !seen.isOver) await settle();
    disk.fault = undefined;
    disk.crash();
  }
  const last = await sceneOn(disk);
  const consumers = await subscribed(last);
  const producer = await last.producer("t");
  // Enough for a segment beyond each that the crashes left.
  for (let count = 0; count < 6; count++) await producer.say("x".repeat(ENTRY_BYTES));
  for (const consumer of consumers) consumer.handle.flow(1000);
  await settle();
  for (const consumer of consumers) consumer.acknowledgeAll();
  await last.timer.advance(1000);
  await settle();
  const [topic] = last.broker.stats();
  const backlogs = topic?.subscriptions.map(({ backlogEntries }) => backlogEntries);
  expect(backlogs, `seed ${seed}`).toEqual([0, 0]);
  const segments = disk.paths().filter((path) => path.endsWith(".log"));
  expect(segments.length, `seed ${seed}: ${segments.join(" ")}`).toBe(1);
  await last.broker.close();
}

/** Runs until the crash, which leaves its calls without an answer. */
async function live(disk: SimulatedDisk, random: Random): Promise<void> {
  const scene = await sceneOn(disk);
  const consumers = await subscribed(scene);
  const producer = await scene.producer("t");
  for (let burst = 0; burst < 6; burst++) {
    const entries = 1 + upTo(random, 7);
    await Promise.all(Array.from({ length: entries }, () => producer.say("x".repeat(ENTRY_BYTES))));
    for (const consumer of consumers) consumer.handle.flow(10);
    await settle();
    for (const consumer of consumers)
      for (const { position } of consumer.deliveries)
        if (random.next() < 0.6) consumer.handle.acknowledge([{ position }]);
    await scene.timer.advance(upTo(random, 1500));
  }
}

function subscribed(scene: BrokerScene): Promise<TestConsumer[]> {
  return Promise.all(
    SUBSCRIPTIONS.map((subscription) => scene.consumer("t", { subscription, type: "shared" })),
  );
}

async function sceneOn(disk: SimulatedDisk): Promise<BrokerScene> {
  const store = await openStoreOn(disk.mount(), { log: { segmentBytesMax: SEGMENT_BYTES } });
  return new BrokerScene(store);
}

function upTo(random: Random, max: number): number {
  return Math.floor(random.next() * (max + 1));
}
