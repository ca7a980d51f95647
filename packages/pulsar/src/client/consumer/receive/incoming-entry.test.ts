import { deflateSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { BatchWriter } from "../../../wire/batch.ts";
import type { CommandMessage } from "../../../wire/definition/consumer.ts";
import type { MessageMetadata, SingleMessageMetadata } from "../../../wire/definition/metadata.ts";
import { encodeEntry } from "../../../wire/entry.ts";
import { MessageId } from "../../message/message-id.ts";
import { CorruptEntryError } from "./corrupt-entry-error.ts";
import { DeliveredMessage } from "./delivered-message.ts";
import { IncomingEntry, readRawEntry } from "./incoming-entry.ts";
import type { EntryRules, Received } from "./incoming-entry.ts";
import { UnackedSet } from "../acknowledge/unacked-set.ts";
import { UnreadableMessageError } from "./unreadable-message-error.ts";

const METADATA: MessageMetadata = { producerName: "p", sequenceId: 40n, publishTime: 1_000n };
const COMMAND: CommandMessage = { consumerId: 1n, messageId: { ledgerId: 5n, entryId: 6n } };

const rulesOf = (rules: Partial<EntryRules> = {}): EntryRules => ({
  topic: "persistent://public/default/t",
  messageBytesMax: 10_000,
  isPassed: () => false,
  onSkipped: () => undefined,
  ...rules,
});

const entryOf = (
  bytes: Buffer,
  { command = COMMAND, rules = {} }: { command?: CommandMessage; rules?: Partial<EntryRules> } = {},
): IncomingEntry => new IncomingEntry(rulesOf(rules), readRawEntry(command, bytes));

function all(entry: IncomingEntry): Received[] {
  const received: Received[] = [];
  for (let next = entry.next(); next !== undefined; next = entry.next()) received.push(next);
  return received;
}

const messages = (entry: IncomingEntry): DeliveredMessage[] =>
  all(entry).filter((received) => received instanceof DeliveredMessage);

const texts = (entry: IncomingEntry): string[] =>
  messages(entry).map(({ data }) => data.toString());

function batchOf(
  parts: readonly (Omit<SingleMessageMetadata, "payloadSize"> & { readonly text: string })[],
  metadata: Partial<MessageMetadata> = {},
): Buffer {
  const writer = new BatchWriter();
  for (const { text, ...single } of parts) writer.add(single, Buffer.from(text));
  const numMessagesInBatch = parts.length;
  const plain = writer.take();
  const uncompressedSize = plain.length;
  const payload = metadata.compression === 2 ? deflateSync(plain) : plain;
  return encodeEntry({ ...METADATA, numMessagesInBatch, uncompressedSize, ...metadata }, payload);
}

const abc = [{ text: "a" }, { text: "b" }, { text: "c" }];

test("a message has all fields that its producer set", () => {
  const bytes = encodeEntry(
    {
      ...METADATA,
      partitionKey: "a2V5",
      partitionKeyB64Encoded: true,
      orderingKey: Buffer.from("order"),
      properties: [{ key: "__proto__", value: "x" }],
      eventTime: 900n,
      schemaVersion: Buffer.from([1]),
    },
    Buffer.from("hello"),
  );
  const [message] = messages(entryOf(bytes, { command: { ...COMMAND, redeliveryCount: 2 } }));
  expect(message).toMatchObject({
    key: "a2V5",
    keyBytes: Buffer.from("key"),
    orderingKey: Buffer.from("order"),
    producerName: "p",
    sequenceId: 40n,
    publishTimeMs: 1_000,
    eventTimeMs: 900,
    redeliveryCount: 2,
    schemaVersion: Buffer.from([1]),
    isNull: false,
  });
  expect(Object.entries(message?.properties ?? {})).toEqual([["__proto__", "x"]]);
  expect(message?.data.toString()).toBe("hello");
  expect(message?.messageId.equals(new MessageId(5n, 6n))).toBe(true);
});

describe("a batch", () => {
  test("has its messages in order, each with its own metadata", () => {
    const parts = [
      { text: "a", partitionKey: "k", sequenceId: 70n },
      { text: "", nullValue: true, eventTime: 5n },
    ];
    const [first, second] = messages(entryOf(batchOf(parts)));
    expect(first).toMatchObject({ key: "k", sequenceId: 70n, isNull: false });
    expect(second).toMatchObject({ sequenceId: 41n, isNull: true, eventTimeMs: 5 });
    expect(second?.messageId).toMatchObject({ batchIndex: 1, batchSize: 2 });
  });

  test("hands out only the messages of the broker's ack set, and counts only those", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 130 }), fc.array(fc.nat(129)), (size, acked) => {
        const left = new UnackedSet(size);
        for (const index of acked) left.remove(index);
        fc.pre(left.count > 0);
        const parts = Array.from({ length: size }, (_, index) => ({ text: `${index}` }));
        const command = { ...COMMAND, ackSet: left.toAckSet() };
        const entry = entryOf(batchOf(parts), { command });
        expect(entry.permits).toBe(left.count);
        expect(texts(entry)).toEqual(
          parts.map(({ text }) => text).filter((text) => left.has(Number(text))),
        );
      }),
    );
  });

  test("skips compacted messages and those before the start position, and reports them", () => {
    const parts = [{ text: "a" }, { text: "b", compactedOut: true }, { text: "c" }];
    const skipped: number[] = [];
    const rules = {
      isPassed: (_: unknown, index: number | undefined) => index === 0,
      onSkipped: (_: unknown, index: number) => skipped.push(index),
    };
    const entry = entryOf(batchOf(parts), { rules });
    expect(entry.permits).toBe(3);
    expect(texts(entry)).toEqual(["c"]);
    expect(skipped).toEqual([0, 1]);
  });

  test("may be compressed", () => {
    expect(texts(entryOf(batchOf(abc, { compression: 2 })))).toEqual(["a", "b", "c"]);
  });
});

const reasonOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof CorruptEntryError) return error.validationError;
    throw error;
  }
  return "none";
};

describe("a corrupt entry", () => {
  test("is found by its checksum, for any changed byte", () => {
    const intact = batchOf(abc);
    for (const at of intact.keys()) {
      const bytes = Buffer.from(intact);
      bytes[at] = (bytes[at] ?? 0) ^ 0x10;
      expect(reasonOf(() => all(entryOf(bytes)))).not.toBe("none");
    }
  });

  test("may have fewer messages than it says", () => {
    const bytes = batchOf(abc, { numMessagesInBatch: 4 });
    expect(reasonOf(() => all(entryOf(bytes)))).toBe("batchDeSerializeError");
  });

  test("may claim more messages than its bytes can hold", () => {
    const bytes = batchOf(abc, { numMessagesInBatch: 2 ** 31 - 1 });
    expect(reasonOf(() => entryOf(bytes))).toBe("batchDeSerializeError");
  });
});

describe("a message that cannot be decoded", () => {
  test.each([
    ["is encrypted", { encryptionKeys: [{ key: "k", value: Buffer.from("v") }] }],
    ["has 10001 bytes; 10000 are allowed", { compression: 2, uncompressedSize: 10_001 }],
    ["cannot be uncompressed", { compression: 2, uncompressedSize: 500 }],
  ])("is told once for its whole entry: it %s", (why, metadata) => {
    const received = all(entryOf(batchOf(abc, metadata)));
    expect(received).toHaveLength(1);
    const [told] = received;
    if (!(told instanceof UnreadableMessageError)) expect.unreachable();
    expect(told.message).toContain(why);
  });
});
