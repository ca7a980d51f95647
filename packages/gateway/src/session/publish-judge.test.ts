import { expect, test } from "vitest";
import { entryOf } from "../../test/session-driver.ts";
import { Outbox } from "./effect.ts";
import { sessionLimits } from "./limits.ts";
import { PublishJudge } from "./publish-judge.ts";
import { ReadGate } from "./read-gate.ts";

const SEND = { producerId: 1n, sequenceId: 1n };

function judgeWith(limits: Parameters<typeof sessionLimits>[0] = {}): PublishJudge {
  return new PublishJudge(sessionLimits(limits), new ReadGate(new Outbox()));
}

test("a message and a batch are accepted if they are as many as their SEND says", () => {
  const judge = judgeWith();
  expect(judge.judge(SEND, entryOf("x"))).toBeUndefined();
  expect(judge.judge({ ...SEND, numMessages: 3 }, entryOf("xyz", 3))).toBeUndefined();
  expect(judge.pendingSends).toBe(2);
});

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
])("a SEND with $what is refused and costs nothing", ({ send, entry }) => {
  const judge = judgeWith({ batchMessagesMax: 10, messageBytesMax: 100 });
  expect(judge.judge({ ...SEND, ...send }, entry)?.error).toBe("NotAllowedError");
  expect(judge.pendingSends).toBe(0);
});

test("a SEND that was damaged on its way is told from one that was wrong", () => {
  const entry = entryOf("x");
  entry.writeUInt8(entry.readUInt8(entry.length - 1) ^ 1, entry.length - 1);
  expect(judgeWith().judge(SEND, entry)?.error).toBe("ChecksumError");
});
