import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { RefusalError } from "../../refusal/refusal-error.ts";
import { NameMaker } from "./name-maker.ts";
import type { AccessMode, ProducerHandle, ProducerRequest } from "./producer-handle.ts";
import { TopicProducers } from "./topic-producers.ts";

/** Producers of one topic, and what they heard. */
class Scene {
  readonly heard: string[] = [];
  readonly saved: bigint[] = [];
  readonly producers = new TopicProducers(new NameMaker(new SeededRandom(1)), {
    topicEpoch: 0n,
    saveTopicEpoch: (epoch) => this.#save(epoch),
    publish: () => Promise.resolve({ ledgerId: 0, entryId: 0 }),
    onOpened: () => -1n,
    wallClock: { now: () => 0 },
    producersMax: 4,
  });
  isBroken = false;

  open(
    name: string,
    accessMode: AccessMode,
    request: Partial<ProducerRequest> = {},
  ): Promise<ProducerHandle> {
    return this.producers.open({
      topic: "t",
      producerName: name,
      accessMode,
      owner: this,
      epoch: 0n,
      onReady: (epoch) => this.heard.push(`${name} ready ${epoch}`),
      onClosed: ({ error }) => this.heard.push(`${name} ${error}`),
      ...request,
    });
  }

  #save(epoch: bigint): Promise<void> {
    if (this.isBroken) return Promise.reject(new RefusalError("PersistenceError", "full"));
    this.saved.push(epoch);
    return Promise.resolve();
  }
}

const publication = { parts: [Buffer.alloc(1)], messageCount: 1 };

/** Lets everything that is ready happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

test("a producer without a name is given one that no other has", async () => {
  const scene = new Scene();
  const first = await scene.open("", "shared", { producerName: undefined });
  const second = await scene.open("", "shared", { producerName: undefined });
  expect(first.name).not.toBe(second.name);
});

test("a name is taken until its producer closes", async () => {
  const scene = new Scene();
  const first = await scene.open("a", "shared");
  await expect(scene.open("a", "shared", { owner: {} })).rejects.toMatchObject({
    error: "ProducerBusy",
  });
  first.close();
  await expect(scene.open("a", "shared", { owner: {} })).resolves.toMatchObject({ isReady: true });
});

test("a connection replaces its own producer by one of a higher epoch", async () => {
  const scene = new Scene();
  const first = await scene.open("a", "exclusive");
  await expect(scene.open("a", "exclusive")).rejects.toMatchObject({ error: "ProducerBusy" });
  const second = await scene.open("a", "exclusive", { epoch: 1n });
  expect(second.isReady).toBe(true);
  await expect(first.publish(publication)).rejects.toMatchObject({ error: "ProducerFenced" });
  // It was closed by its own successor: nobody has to be told, and closing it closes nothing else.
  first.close();
  await second.publish(publication);
  expect(scene.heard).toEqual([]);
});

test("whoever is exclusive keeps others out, and finds others in its way", async () => {
  const scene = new Scene();
  const shared = await scene.open("shared", "shared");
  await expect(scene.open("alone", "exclusive")).rejects.toMatchObject({ error: "ProducerFenced" });
  shared.close();
  const alone = await scene.open("alone", "exclusive");
  expect(alone.topicEpoch).toBe(1n);
  await expect(scene.open("x", "shared")).rejects.toMatchObject({ error: "ProducerBusy" });
  await expect(scene.open("x", "exclusive")).rejects.toMatchObject({ error: "ProducerFenced" });
});

test("who waits to be exclusive gets its turn in order, with an epoch of its own", async () => {
  const scene = new Scene();
  const shared = await scene.open("shared", "shared");
  const first = await scene.open("first", "wait-for-exclusive");
  const gone = await scene.open("gone", "wait-for-exclusive");
  await scene.open("last", "wait-for-exclusive");
  await expect(first.publish(publication)).rejects.toMatchObject({ error: "ProducerFenced" });
  shared.close();
  await settle();
  expect(scene.heard).toEqual(["first ready 1"]);
  await first.publish(publication);
  gone.close();
  first.close();
  await settle();
  expect(scene.heard).toEqual(["first ready 1", "last ready 2"]);
  expect(scene.saved).toEqual([1n, 2n]);
});

test("fencing closes everybody else, also who waits", async () => {
  const scene = new Scene();
  const old = await scene.open("old", "exclusive");
  await scene.open("waiting", "wait-for-exclusive");
  const fencing = await scene.open("fencing", "exclusive-with-fencing");
  expect(scene.heard).toEqual(["old ProducerFenced", "waiting ProducerFenced"]);
  expect(fencing.topicEpoch).toBe(2n);
  await expect(old.publish(publication)).rejects.toMatchObject({ error: "ProducerFenced" });
  const back = { topicEpoch: old.topicEpoch };
  fencing.close();
  await expect(scene.open("old", "exclusive", back)).rejects.toMatchObject({
    error: "ProducerFenced",
  });
  const again = await scene.open("fencing", "exclusive", { topicEpoch: 2n });
  expect(again.topicEpoch).toBe(2n);
});

test("an epoch that nobody has given is not believed", async () => {
  const scene = new Scene();
  const forged = await scene.open("forged", "exclusive", { topicEpoch: 2n ** 64n - 1n });
  expect(forged.topicEpoch).toBe(1n);
});

test("nobody is exclusive before its epoch is stored", async () => {
  const scene = new Scene();
  const shared = await scene.open("shared", "shared");
  await scene.open("waiting", "wait-for-exclusive");
  scene.isBroken = true;
  shared.close();
  await settle();
  expect(scene.heard).toEqual(["waiting PersistenceError"]);
  await expect(scene.open("alone", "exclusive")).rejects.toMatchObject({
    error: "PersistenceError",
  });
  scene.isBroken = false;
  await expect(scene.open("shared", "shared")).resolves.toMatchObject({ isReady: true });
});

test("a topic has no more producers than it may", async () => {
  const scene = new Scene();
  for (const name of ["a", "b", "c", "d"]) await scene.open(name, "shared");
  await expect(scene.open("e", "shared")).rejects.toMatchObject({ error: "ProducerBusy" });
});
