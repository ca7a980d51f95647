import * as fc from "fast-check";
import { expect, test } from "vitest";
import { MessageId } from "./message-id.ts";

const anyId = fc
  .record({
    ledgerId: fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }),
    entryId: fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }),
    partition: fc.integer({ min: -1, max: 100 }),
    batchIndex: fc.integer({ min: -1, max: 100 }),
    batchSize: fc.nat(1_000),
  })
  .map(({ ledgerId, entryId, ...within }) => new MessageId(ledgerId, entryId, within));

test("an id is deserialized as it was serialized", () => {
  fc.assert(
    fc.property(anyId, (id) => {
      expect(MessageId.deserialize(id.serialize())).toEqual(id);
    }),
  );
});

test("the bytes are those of Pulsar's Java client", () => {
  const id = new MessageId(5n, 300n, { partition: 2, batchIndex: 1, batchSize: 10 });
  expect(Buffer.from(id.serialize()).toString("hex")).toBe("080510ac0218022001300a");
});

test("ids compare in the order of their messages", () => {
  const inOrder = [
    MessageId.earliest,
    new MessageId(1n, 5n),
    new MessageId(1n, 5n, { batchIndex: 0 }),
    new MessageId(1n, 5n, { batchIndex: 1 }),
    new MessageId(1n, 6n),
    new MessageId(2n, 0n),
    MessageId.latest,
  ];
  for (const [at, id] of inOrder.entries())
    for (const [otherAt, other] of inOrder.entries())
      expect(Math.sign(id.compare(other))).toBe(Math.sign(at - otherAt));
});

test("an id prints as in Pulsar's other clients", () => {
  expect(new MessageId(3n, 4n).toString()).toBe("3:4:-1");
  expect(new MessageId(3n, 4n, { partition: 1, batchIndex: 2 }).toString()).toBe("3:4:1:2");
  expect(new MessageId(2n ** 64n - 1n, 2n ** 64n - 1n).toString()).toBe("-1:-1:-1");
});
