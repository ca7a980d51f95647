import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { arbitraryMessage } from "../../test/arbitrary-message.ts";
import { BatchWriter, splitBatch } from "./batch.ts";
import { MESSAGE_METADATA, SINGLE_MESSAGE_METADATA } from "./definition/metadata.ts";
import {
  decodeBrokerEntryMetadata,
  decodeMetadata,
  deliverAtMsOf,
  encodeBrokerEntryHead,
  encodeEntry,
  isIntact,
  splitEntry,
} from "./entry.ts";
import { ProtocolError } from "./protocol-error.ts";

const METADATA = { producerName: "p", sequenceId: 1n, publishTime: 2n };
const payloads = fc.uint8Array({ maxLength: 300 });

test("an entry comes back as it was, with and without what a broker puts before it", () => {
  fc.assert(
    fc.property(arbitraryMessage(MESSAGE_METADATA), payloads, (metadata, payload) => {
      const bytes = encodeEntry(metadata, payload);
      for (const head of [Buffer.alloc(0), encodeBrokerEntryHead({ index: 7n })]) {
        const entry = splitEntry(Buffer.concat([head, bytes]));
        expect(decodeMetadata(entry)).toEqual(metadata);
        expect(Buffer.compare(entry.payload, payload)).toBe(0);
        expect(isIntact(entry)).toBe(true);
        expect(decodeBrokerEntryMetadata(entry)?.index).toBe(head.length > 0 ? 7n : undefined);
      }
    }),
  );
});

test("the delivery time is found as decoding finds it, or the entry is found too short", () => {
  fc.assert(
    fc.property(arbitraryMessage(MESSAGE_METADATA), fc.nat(), (metadata, cut) => {
      const expected = metadata.deliverAtTime;
      const bytes = encodeEntry(metadata, Buffer.from("x"));
      for (const head of [Buffer.alloc(0), encodeBrokerEntryHead({ index: 7n })])
        expect(deliverAtMsOf(Buffer.concat([head, bytes]))).toBe(
          expected === undefined ? undefined : Number(expected),
        );
      const metadataEnd = bytes.length - 1;
      expect(() => deliverAtMsOf(bytes.subarray(0, cut % metadataEnd))).toThrow(ProtocolError);
    }),
  );
});

test("any flipped bit under the checksum is noticed", () => {
  const bytes = encodeEntry(METADATA, Buffer.from("hello"));
  for (let bit = 2 * 8; bit < bytes.length * 8; bit++) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    let isTaken = true;
    try {
      isTaken = isIntact(splitEntry(flipped));
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError);
      isTaken = false;
    }
    expect(isTaken).toBe(false);
  }
});

test("an entry without a checksum is believed", () => {
  const bytes = encodeEntry(METADATA, Buffer.from("hello")).subarray(6);
  const entry = splitEntry(bytes);
  expect(entry.checksum).toBeUndefined();
  expect(isIntact(entry)).toBe(true);
  expect(entry.payload.toString()).toBe("hello");
});

test("an entry that is cut short is refused or not intact", () => {
  const bytes = Buffer.concat([
    encodeBrokerEntryHead({ brokerTimestamp: 5n }),
    encodeEntry(METADATA, Buffer.from("hello")),
  ]);
  for (let length = 0; length < bytes.length; length++) {
    const cut = bytes.subarray(0, length);
    let isTaken = true;
    try {
      isTaken = isIntact(splitEntry(cut));
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError);
      isTaken = false;
    }
    expect(isTaken, `${length} bytes`).toBe(false);
  }
});

describe("a batch", () => {
  const messages = fc.array(fc.tuple(arbitraryMessage(SINGLE_MESSAGE_METADATA), payloads), {
    maxLength: 10,
  });

  test("comes apart into what was added, in order", () => {
    fc.assert(
      fc.property(messages, (added) => {
        const writer = new BatchWriter();
        for (const [metadata, payload] of added) writer.add(metadata, payload);
        expect(writer.count).toBe(added.length);
        const size = writer.sizeBytes;
        const bytes = writer.take();
        expect(bytes.length).toBe(size);
        expect(writer.count).toBe(0);
        const found = [...splitBatch(bytes, added.length)];
        expect(found.map(({ payload }) => Buffer.from(payload))).toEqual(
          added.map(([, payload]) => Buffer.from(payload)),
        );
        found.forEach(({ metadata }, index) => {
          const [sent, payload] = added[index] ?? [];
          expect(metadata).toEqual({ ...sent, payloadSize: payload?.length });
        });
      }),
    );
  });

  test("that is shorter than its count is refused", () => {
    const writer = new BatchWriter();
    writer.add({}, Buffer.from("a"));
    writer.add({}, Buffer.from("b"));
    const bytes = writer.take();
    expect(() => [...splitBatch(bytes, 3)]).toThrow(ProtocolError);
    for (let length = 0; length < bytes.length; length++)
      expect(() => [...splitBatch(bytes.subarray(0, length), 2)]).toThrow(ProtocolError);
  });

  test("with a negative size of a payload is refused", () => {
    const metadata = Buffer.from("18ffffffffffffffffff01", "hex");
    const bytes = Buffer.concat([Buffer.from([0, 0, 0, metadata.length]), metadata]);
    expect(() => [...splitBatch(bytes, 1)]).toThrow(ProtocolError);
  });
});
