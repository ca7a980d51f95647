import { encodeEntry } from "@sluice/pulsar/wire";
import type { MessageMetadata } from "@sluice/pulsar/wire";
import { nextTurn } from "@sluice/core/system";
import { expect, test } from "vitest";
import { DOCUMENT_BYTES_MAX } from "../../storage/document/document-store.ts";
import { MemoryDocumentStore } from "../../storage/document/memory-document-store.ts";
import { MemoryTopicLog } from "../../storage/log/memory-topic-log.ts";
import { Deduplication } from "./deduplication.ts";
import { SequenceIds, encodeSnapshot, sequenceOf } from "./sequence-ids.ts";
import { SEQUENCE_IDS_NAME } from "../topic-marks.ts";

const PRODUCER = { producerName: "a", publishTime: 0n };

function entry(metadata: Partial<MessageMetadata>): Buffer {
  return encodeEntry({ ...PRODUCER, sequenceId: 0n, ...metadata }, Buffer.from("x"));
}

/** A topic whose broker may crash: what is not saved is gone. */
class Scene {
  readonly log = new MemoryTopicLog();
  readonly saved = new Map<string, Uint8Array>();
  readonly documents = new MemoryDocumentStore(this.saved);

  open(isDamaged = false): Promise<Deduplication> {
    const { log, documents } = this;
    const saved = isDamaged ? "damaged" : this.saved.get(SEQUENCE_IDS_NAME);
    return Deduplication.open(saved, { log, documents, nextTurn, isWanted: () => true });
  }

  async publish(deduplication: Deduplication, sequenceId: bigint): Promise<void> {
    const parts = [entry({ sequenceId })];
    const sequence = deduplication.sequenceOf(parts);
    const position = await this.log.append({ parts, messageCount: 1, publishedAtMs: 0 });
    deduplication.onStored(sequence, position);
  }
}

test.each([0, 1, 999, 1_000, 2_500])(
  "after a crash with %i entries since the policy was turned on, the last id is right",
  async (count) => {
    const scene = new Scene();
    const before = await scene.open();
    for (let id = 0; id < count; id++) await scene.publish(before, BigInt(id));
    const after = await scene.open();
    expect(after.onOpened("a")).toBe(BigInt(count) - 1n);
  },
);

test("ids of entries that were removed are in what was saved before", async () => {
  const scene = new Scene();
  const before = await scene.open();
  for (const id of [0n, 1n, 2n]) await scene.publish(before, id);
  await before.save();
  await scene.log.trim({
    nowMs: 1,
    consumedBefore: scene.log.end,
    ageMaxMs: 0,
    sizeMaxBytes: 0,
    drainAfterMs: 0,
  });
  expect(scene.log.last).toBeUndefined();
  expect((await scene.open()).onOpened("a")).toBe(2n);
});

test("damaged ids are counted again from the entries that are kept", async () => {
  const scene = new Scene();
  const before = await scene.open();
  for (const id of [0n, 1n]) await scene.publish(before, id);
  expect((await scene.open(true)).onOpened("a")).toBe(1n);
  scene.saved.set(SEQUENCE_IDS_NAME, Buffer.from("{"));
  expect((await scene.open()).onOpened("a")).toBe(1n);
});

test("a batch has its highest id, and a message in chunks is published by its last chunk", () => {
  const batch = sequenceOf([entry({ sequenceId: 3n, highestSequenceId: 7n })]);
  expect(batch).toEqual({ producer: "a", first: 3n, last: 7n });
  const chunks = [0, 1].map((chunkId) => {
    const chunk = entry({ sequenceId: 8n, chunkId, numChunksFromMsg: 2, uuid: "u" });
    // In two pieces, as an entry may come.
    return sequenceOf([chunk.subarray(0, 5), chunk.subarray(5)]);
  });
  const ids = new SequenceIds();
  const seen = chunks.map((chunk) => {
    if (chunk === undefined) throw new Error("no entry");
    const hasSeen = ids.has(chunk);
    ids.onAppend(chunk);
    ids.onStored(chunk);
    return hasSeen;
  });
  expect(seen).toEqual([false, false]);
  expect(ids.restart("a")).toBe(8n);
  expect(sequenceOf([Buffer.from("no entry")])).toBeUndefined();
});

test("at most 10,000 names are kept, those that published last, and no more than a document holds", () => {
  const ids = new SequenceIds();
  const stored = (producer: string): void => ids.onStored({ producer, first: 0n, last: 1n });
  for (let name = 0; name < 10_000; name++) stored(`${name}`);
  stored("0");
  stored("new");
  expect([ids.restart("0"), ids.restart("1"), ids.restart("new")]).toEqual([1n, undefined, 1n]);
  // Escaped, a control character takes six bytes.
  for (let name = 0; name < 100; name++) stored(`${name}${"\u0001".repeat(50_000)}`);
  const bytes = encodeSnapshot({ before: { ledgerId: 0, entryId: 0 }, lastIds: ids.lastIds() });
  expect(bytes.length).toBeLessThanOrEqual(DOCUMENT_BYTES_MAX);
  expect(ids.lastIds().size).toBeGreaterThan(10);
});
