import { decodeFrame, encodeFrame, encodeSendFrame } from "@sluice/pulsar/wire";
import type { CommandBodies, Frame } from "@sluice/pulsar/wire";
import fc from "fast-check";
import { expect, test } from "vitest";
import { entryBytesOf, slimReceipt, slimSend } from "./slim-frames.ts";

/** Of all sizes alike. */
const id = fc
  .tuple(fc.nat(63), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }))
  .map(([bits, value]) => value >> BigInt(bits));
const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const send: fc.Arbitrary<CommandBodies["send"]> = fc.record({
  producerId: id,
  sequenceId: id,
  numMessages: optional(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  txnidLeastBits: optional(id),
  highestSequenceId: optional(id),
  isChunk: optional(fc.boolean()),
});

const receipt: fc.Arbitrary<CommandBodies["sendReceipt"]> = fc.record({
  producerId: id,
  sequenceId: id,
  messageId: optional(fc.record({ ledgerId: id, entryId: id })),
  highestSequenceId: optional(id),
});

const sendFrame = fc
  .tuple(send, fc.uint8Array({ maxLength: 200 }))
  .map(([body, payload]) =>
    encodeSendFrame(body, { producerName: "p", sequenceId: 1n, publishTime: 1n }, payload),
  );
const receiptFrame = receipt.map((body) => encodeFrame({ kind: "sendReceipt", body }));

/** Frames of which some bytes behind the lengths were replaced. */
const damaged = (frame: fc.Arbitrary<Buffer>): fc.Arbitrary<Buffer> =>
  fc
    .tuple(frame, fc.array(fc.tuple(fc.nat(40), fc.nat(255)), { maxLength: 3 }))
    .map(([bytes, changes]) => {
      for (const [at, byte] of changes) if (4 + at < bytes.length) bytes[4 + at] = byte;
      return bytes;
    });

/** Undefined: the frame breaks the protocol. */
function decoded(bytes: Buffer): Frame | undefined {
  try {
    return decodeFrame(bytes);
  } catch {
    return undefined;
  }
}

test("a SEND that is read in short is what the decoder for all commands reads, also of damaged bytes", () => {
  fc.assert(
    fc.property(damaged(sendFrame), (bytes) => {
      const slim = slimSend(bytes);
      if (slim === undefined) return;
      const full = decoded(bytes);
      if (full?.command.kind !== "send") throw new Error("read what is no SEND");
      const { producerId, sequenceId, numMessages } = full.command.body;
      expect(slim.command.body.producerId).toBe(producerId);
      expect(slim.command.body.sequenceId).toBe(sequenceId);
      expect(slim.command.body.numMessages).toBe(numMessages);
      expect(slim.entry.equals(full.entry)).toBe(true);
      expect(entryBytesOf(slim)).toBe(full.entry.length);
    }),
    { numRuns: 2_000 },
  );
});

test("a SEND_RECEIPT that is read in short has the producer that the decoder for all commands reads", () => {
  fc.assert(
    fc.property(damaged(receiptFrame), (bytes) => {
      const slim = slimReceipt(bytes);
      const full = decoded(bytes);
      // The message id is not looked into: the client finds what is wrong with it.
      if (slim === undefined || full === undefined) return;
      if (full.command.kind !== "sendReceipt") throw new Error("read what is no SEND_RECEIPT");
      expect(slim.command.body.producerId).toBe(full.command.body.producerId);
    }),
    { numRuns: 2_000 },
  );
});

test("SENDs and SEND_RECEIPTs as clients and brokers write them are read in short", () => {
  const body = { producerId: 70_000n, sequenceId: 2n ** 40n, numMessages: 100 };
  const metadata = { producerName: "p", sequenceId: 1n, publishTime: 1n };
  expect(slimSend(encodeSendFrame(body, metadata, Buffer.alloc(9)))?.command.body.numMessages).toBe(
    100,
  );
  const messageId = { ledgerId: 2n ** 40n, entryId: 7n, partition: 3 };
  const answer = encodeFrame({ kind: "sendReceipt", body: { ...body, messageId } });
  expect(slimReceipt(answer)?.command.body.producerId).toBe(70_000n);
});
