import { encodeBrokerEntryHead } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { entryOf } from "../../../test/session-driver.ts";
import { sessionLimits } from "../limits.ts";
import { validateSend } from "./validate-send.ts";

const SEND = { producerId: 1n, sequenceId: 1n };
const LIMITS = sessionLimits({ batchMessagesMax: 10, messageBytesMax: 100 });

test("a message and a batch are valid if they are as many as their SEND says", () => {
  expect(validateSend(SEND, entryOf("x"), LIMITS)).toBeUndefined();
  expect(validateSend({ ...SEND, numMessages: 3 }, entryOf("xyz", 3), LIMITS)).toBeUndefined();
});

const brokerHead = encodeBrokerEntryHead({ brokerTimestamp: 1n });

test.each([
  { what: "no messages", send: { numMessages: 0 }, entry: entryOf("x") },
  { what: "fewer than no messages", send: { numMessages: -1 }, entry: entryOf("x") },
  { what: "too many messages", send: { numMessages: 11 }, entry: entryOf("x", 11) },
  { what: "more messages than it brings", send: { numMessages: 2 }, entry: entryOf("x") },
  { what: "fewer messages than it brings", send: {}, entry: entryOf("x", 2) },
  { what: "a transaction", send: { txnidLeastBits: 1n }, entry: entryOf("x") },
  { what: "a payload that is too large", send: {}, entry: entryOf("x".repeat(101)) },
  { what: "nothing", send: {}, entry: Buffer.alloc(0) },
  { what: "half an entry", send: {}, entry: entryOf("x").subarray(0, 12) },
  { what: "metadata that is none", send: {}, entry: Buffer.from([0, 0, 0, 1, 0xff]) },
  {
    what: "broker entry metadata, which some clients cannot read",
    send: {},
    entry: Buffer.concat([brokerHead, entryOf("x")]),
  },
])("a SEND with $what is refused", ({ send, entry }) => {
  expect(validateSend({ ...SEND, ...send }, entry, LIMITS)?.error).toBe("NotAllowedError");
});

test("a SEND that was damaged on its way is told from one that was wrong", () => {
  const entry = entryOf("x");
  entry.writeUInt8(entry.readUInt8(entry.length - 1) ^ 1, entry.length - 1);
  expect(validateSend(SEND, entry, LIMITS)?.error).toBe("ChecksumError");
});
