import { expect, test } from "vitest";
import { MemoryTopicLog } from "../storage/log/memory-topic-log.ts";
import { Cursor } from "./cursor.ts";

/** Six entries in ledgers of two. */
async function logOfSix(): Promise<MemoryTopicLog> {
  const log = new MemoryTopicLog({ segmentBytesMax: 200 });
  for (let count = 0; count < 6; count++)
    await log.append({ parts: [Buffer.alloc(50)], messageCount: 1, publishedAtMs: 0 });
  expect(log.last).toEqual({ ledgerId: 2, entryId: 1 });
  return log;
}

test("an entry that is yet to be stored, or never will be, cannot be acknowledged", async () => {
  const log = await logOfSix();
  const cursor = Cursor.startingAt(log, log.first);
  const beyond = [
    { ledgerId: 2, entryId: -1 },
    { ledgerId: -1, entryId: -1 },
    { ledgerId: 2, entryId: 2 },
    { ledgerId: 3, entryId: 0 },
    { ledgerId: 2 ** 63, entryId: 2 ** 63 },
  ];
  for (const position of beyond) {
    expect(cursor.acknowledge({ position })).toBe(false);
    cursor.acknowledgeUpTo({ position });
  }
  expect(cursor.ackedBefore).toEqual(log.first);
  expect(cursor.ackedBeyond).toBe(0);
  await log.append({ parts: [Buffer.alloc(1)], messageCount: 1, publishedAtMs: 0 });
  expect(log.last).toBeDefined();
  expect(log.last === undefined || cursor.isAcked(log.last)).toBe(false);
});

test("an acknowledged position that no entry has does not stop the cursor at a ledger's end", async () => {
  const log = await logOfSix();
  const cursor = Cursor.startingAt(log, log.first);
  cursor.acknowledge({ position: { ledgerId: 0, entryId: 7 } });
  for (const ledgerId of [1, 0])
    for (const entryId of [1, 0]) cursor.acknowledge({ position: { ledgerId, entryId } });
  expect(cursor.ackedBefore).toEqual({ ledgerId: 1, entryId: 2 });
  expect(cursor.ackedBeyond).toBe(0);
});

test("acknowledging up to a message of a batch keeps the rest of that batch", async () => {
  const log = await logOfSix();
  const cursor = Cursor.startingAt(log, log.first);
  const position = { ledgerId: 1, entryId: 0 };
  cursor.acknowledgeUpTo({ position, ackSet: [0b1100n] });
  expect(cursor.ackedBefore).toEqual(position);
  expect(cursor.ackSetOf(position)).toEqual([0b1100n]);
  cursor.acknowledge({ position, ackSet: [0b0100n] });
  expect(cursor.ackSetOf(position)).toEqual([0b0100n]);
  expect(cursor.acknowledge({ position, ackSet: [0b1000n] })).toBe(true);
  expect(cursor.ackedBefore).toEqual({ ledgerId: 1, entryId: 1 });
  expect(cursor.snapshot().ackSets).toEqual([]);
});

test("messages of batches are forgotten rather than kept without bound", async () => {
  const log = new MemoryTopicLog();
  for (let count = 0; count < 100; count++)
    await log.append({ parts: [Buffer.alloc(1)], messageCount: 1, publishedAtMs: 0 });
  const cursor = Cursor.startingAt(log, log.first);
  const huge = Array.from({ length: 1000 }, () => 1n);
  for (let entryId = 0; entryId < 100; entryId++)
    cursor.acknowledge({ position: { ledgerId: 0, entryId }, ackSet: huge });
  const words = cursor.snapshot().ackSets.reduce((sum, { ackSet }) => sum + ackSet.length, 0);
  expect(words).toBe(65_000);
});
