import {
  decodeMetadata,
  encodeBrokerEntryHead,
  encodeEntry,
  splitEntry,
} from "@sluice/pulsar/wire";
import type { MessageMetadata } from "@sluice/pulsar/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { messagesInEntry } from "./messages-in-entry.ts";

const uint64 = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n });
const text = fc.string({ maxLength: 300 });

/** Metadata as clients write it: batches, chunks, compressed and encrypted entries. */
const metadata: fc.Arbitrary<MessageMetadata> = fc
  .record(
    {
      properties: fc.array(fc.record({ key: text, value: text }), { maxLength: 3 }),
      partitionKey: text,
      compression: fc.nat({ max: 4 }),
      uncompressedSize: fc.nat(),
      numMessagesInBatch: fc.integer({ min: 1, max: 2 ** 31 - 1 }),
      encryptionAlgo: text,
      encryptionParam: fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
      uuid: text,
      numChunksFromMsg: fc.nat(),
      totalChunkMsgSize: fc.nat(),
      chunkId: fc.nat(),
      deliverAtTime: uint64,
    },
    { requiredKeys: [] },
  )
  .chain((rest) =>
    fc
      .record({ producerName: text, sequenceId: uint64, publishTime: uint64 })
      .map((head) => ({ ...head, ...rest })),
  );

test("the count is that of the metadata, whatever else the metadata says", () => {
  fc.assert(
    fc.property(metadata, fc.boolean(), fc.boolean(), (given, hasChecksum, hasHead) => {
      const whole = encodeEntry(given, Buffer.from("payload"));
      const head = hasHead ? encodeBrokerEntryHead({ brokerTimestamp: 1n }) : Buffer.alloc(0);
      const entry = Buffer.concat([head, hasChecksum ? whole : whole.subarray(6)]);
      const frame = Buffer.concat([Buffer.from("head of a frame"), entry]);
      expect(messagesInEntry(frame, 15)).toBe(given.numMessagesInBatch ?? 1);
    }),
  );
});

/** Entries whose metadata are these bytes. */
function entryOf(given: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(given.length);
  return Buffer.concat([length, given]);
}

/** A producer's name, a sequence id and a time, without which no decoder takes metadata. */
const REQUIRED = [0x0a, 1, 0x70, 0x10, 1, 0x18, 1];

/** Bytes of which many are tags and lengths. */
const anyBytes = fc.array(
  fc.oneof(fc.constantFrom(0x58, 0xd8, 0x00, 0x01, 0x0a, 0x10, 0x5b, 0x5c), fc.nat({ max: 255 })),
  { maxLength: 24 },
);

test("bytes of any kind are counted at no less than the decoder for consumers finds in them", () => {
  fc.assert(
    fc.property(anyBytes, (bytes) => {
      const entry = entryOf(Uint8Array.from([...REQUIRED, ...bytes]));
      const count = messagesInEntry(entry, 0);
      expect(count).toBeGreaterThanOrEqual(1);
      let found = 1;
      try {
        ({ numMessagesInBatch: found = 1 } = decodeMetadata(splitEntry(entry)));
      } catch {
        return;
      }
      expect(count).toBeGreaterThanOrEqual(found);
    }),
    { numRuns: 2_000 },
  );
});

test.each([
  { what: "the last of several counts", bytes: [0x58, 2, 0x58, 9], count: 9 },
  { what: "the first of several counts", bytes: [0x58, 9, 0x58, 2], count: 9 },
  { what: "a count whose tag takes more bytes than it needs", bytes: [0xd8, 0x80, 0, 7], count: 7 },
  { what: "a count that takes more bytes than it needs", bytes: [0x58, 0x87, 0x80, 0], count: 7 },
  {
    what: "a count of more than 32 bits, of which parsers take the lower ones",
    bytes: [0x58, 0x87, 0x80, 0x80, 0x80, 0x80, 1],
    count: 7,
  },
  { what: "a count behind 8 bytes", bytes: [0x61, ...Array<number>(8).fill(1), 0x58, 7], count: 7 },
  { what: "a count behind 4 bytes", bytes: [0x65, ...Array<number>(4).fill(1), 0x58, 7], count: 7 },
  { what: "a count behind a group", bytes: [0x53, 0x08, 1, 0x54, 0x58, 7], count: 7 },
  { what: "a count below zero", bytes: [0x58, ...Array<number>(9).fill(0xff), 1], count: 1 },
])("$what is not missed", ({ bytes, count }) => {
  expect(messagesInEntry(entryOf(Uint8Array.from([...REQUIRED, ...bytes])), 0)).toBe(count);
});

test.each([
  { what: "nothing", entry: Buffer.alloc(0) },
  { what: "half a length", entry: Buffer.from([0, 0]) },
  { what: "a length beyond its end", entry: Buffer.from([0, 0, 0, 9, 0x58, 9]) },
  { what: "a field that is cut off", entry: entryOf(Uint8Array.from([0x58, 9, 0x0a, 9])) },
  { what: "a varint without an end", entry: entryOf(Uint8Array.from([0x58, 9, 0x10, 0xff])) },
  { what: "an unknown kind of field", entry: entryOf(Uint8Array.from([0x58, 9, 0x0f])) },
])("an entry of $what counts as one message", ({ entry }) => {
  expect(messagesInEntry(entry, 0)).toBe(1);
});
