import { expect, test } from "vitest";
import { runsOf } from "../../../test/range-lists.ts";
import { MemoryTopicLog } from "../../storage/log/memory-topic-log.ts";
import { Cursor } from "./cursor.ts";
import { cpuMs } from "../../../test/cpu-time.ts";

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

test("a cursor older than the log starts at the first entry that is kept, and goes on from there", async () => {
  const log = await logOfSix();
  const stored = {
    ackedBefore: { ledgerId: 0, entryId: 1 },
    ranges: runsOf([
      { ledgerId: 1, from: 1, to: 2 },
      { ledgerId: 2, from: 1, to: 2 },
    ]),
    ackSets: [{ position: { ledgerId: 1, entryId: 0 }, ackSet: [1n] }],
  };
  await log.trimBefore({ ledgerId: 2, entryId: 0 });
  const cursor = new Cursor(log, stored);
  expect(cursor.aheadAt).toBeUndefined();
  expect(cursor.ackedBefore).toEqual({ ledgerId: 2, entryId: 0 });
  expect(cursor.ackedBeyond).toBe(1);
  expect(cursor.snapshot().ackSets).toEqual([]);
  expect(cursor.acknowledge({ position: { ledgerId: 2, entryId: 0 } })).toBe(true);
  expect(cursor.ackedBefore).toEqual(log.end);
});

test("a range in a ledger that is gone is absorbed", async () => {
  const log = await logOfSix();
  const cursor = Cursor.startingAt(log, { ledgerId: 0, entryId: 1 });
  cursor.acknowledge({ position: { ledgerId: 1, entryId: 0 } });
  cursor.acknowledge({ position: { ledgerId: 1, entryId: 1 } });
  // Another way to remove entries, e.g. a backlog quota, does not ask this cursor.
  await log.trimBefore({ ledgerId: 2, entryId: 0 });
  for (const entryId of [0, 1]) cursor.acknowledge({ position: { ledgerId: 2, entryId } });
  expect(cursor.ackedBefore).toEqual(log.end);
});

test("a cursor ahead of the log is set to its end and says so; later entries are not acknowledged", async () => {
  const log = await logOfSix();
  const empty = { ranges: [], ackSets: [] };
  const ahead = { ledgerId: 2, entryId: 5 };
  const cursor = new Cursor(log, { ackedBefore: ahead, ...empty });
  expect(cursor.aheadAt).toEqual(ahead);
  expect(cursor.ackedBefore).toEqual(log.end);
  const ranges = runsOf([
    { ledgerId: 1, from: 0, to: 1 },
    { ledgerId: 1, from: 7, to: 9 },
    { ledgerId: 2, from: 1, to: 4 },
    { ledgerId: 4, from: 0, to: 1 },
  ]);
  const partly = new Cursor(log, { ackedBefore: log.first, ranges, ackSets: [] });
  expect(partly.aheadAt).toEqual({ ledgerId: 4, entryId: 1 });
  expect(partly.ackedBeyond).toBe(2);
  const position = await log.append({
    parts: [Buffer.alloc(1)],
    messageCount: 1,
    publishedAtMs: 0,
  });
  expect(cursor.isAcked(position)).toBe(false);
  expect(partly.isAcked(position)).toBe(false);
  const atEnd = new Cursor(log, { ackedBefore: log.end, ...empty });
  expect(atEnd.aheadAt).toBeUndefined();
});

test("cumulative acknowledgements stay cheap beside many partly acknowledged batches", async () => {
  const log = new MemoryTopicLog({ segmentBytesMax: 64 * 1024 * 1024 });
  const entry = { parts: [], messageCount: 2, publishedAtMs: 0 };
  for (let count = 0; count < 60_000; count++) await log.append(entry);
  const cursor = Cursor.startingAt(log, log.first);
  const { ledgerId } = log.first;
  for (let entryId = 0; entryId < 60_000; entryId++)
    cursor.acknowledge({ position: { ledgerId, entryId }, ackSet: [1n] });
  const startMs = cpuMs();
  for (let entryId = 0; entryId < 20_000; entryId++)
    cursor.acknowledgeUpTo({ position: { ledgerId, entryId } });
  // To look at all batches each time took 14 s on a loaded machine.
  expect(cpuMs() - startMs).toBeLessThan(1000);
  expect(cursor.snapshot().ackSets).toHaveLength(40_000);
});
