/** What every log must do, whatever it is made of. */
import { InvariantError } from "@sluice/core";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { EARLIEST, comparePositions } from "../src/storage/position.ts";
import type { Position } from "../src/storage/position.ts";
import { StorageClosedError } from "../src/storage/storage-error.ts";
import type { ReadBounds, StoredEntry, TopicLog } from "../src/storage/log/topic-log.ts";

export interface LogOptions {
  /** Small, so that few entries fill a segment. */
  readonly segmentBytesMax: number;
}

const ALL: ReadBounds = { countMax: Infinity, bytesMax: Infinity };

/** A segment takes three of the entries that these tests append, and not four. */
const SEGMENT_BYTES = 185;

/** Appends a short text. */
export function say(
  log: TopicLog,
  text: string,
  { publishedAtMs = 0, messageCount = 1 }: { publishedAtMs?: number; messageCount?: number } = {},
): Promise<Position> {
  return log.append({ parts: [Buffer.from(text)], messageCount, publishedAtMs });
}

/** Reads all, however little each read gives. */
export async function readAll(log: TopicLog, bounds: ReadBounds = ALL): Promise<StoredEntry[]> {
  const entries: StoredEntry[] = [];
  for (let from = EARLIEST; ;) {
    const more = await log.read(from, bounds);
    const last = more.at(-1);
    if (last === undefined) return entries;
    entries.push(...more);
    from = log.next(last.position);
  }
}

export function textOf(entry: StoredEntry | undefined): string {
  return Buffer.from(entry?.bytes ?? []).toString();
}

export function describeTopicLog(
  what: string,
  openLog: (options: LogOptions) => Promise<TopicLog>,
): void {
  describe(what, () => {
    let log: TopicLog;

    /** Appends `count` entries named by their number, published a second apart. */
    async function fill(count: number): Promise<Position[]> {
      const numbers = Array.from({ length: count }, (_, number) => number);
      return Promise.all(
        numbers.map((number) => say(log, `entry ${number}`, { publishedAtMs: number * 1000 })),
      );
    }

    beforeEach(async () => {
      log = await openLog({ segmentBytesMax: SEGMENT_BYTES });
    });

    afterEach(() => log.close());

    test("begins empty, and its end is its start", async () => {
      expect(log.first).toEqual({ ledgerId: 0, entryId: 0 });
      expect(log.end).toEqual({ ledgerId: 0, entryId: 0 });
      expect(log.last).toBeUndefined();
      expect(await log.read(EARLIEST, ALL)).toEqual([]);
      expect(await log.positionAtTime(0)).toEqual(log.end);
    });

    test("gives back what was appended, pieces joined", async () => {
      const parts = [Buffer.from("ab"), Buffer.alloc(0), Buffer.from("c")];
      const position = await log.append({ parts, messageCount: 3, publishedAtMs: 1234 });
      const [entry] = await log.read(EARLIEST, ALL);
      expect(textOf(entry)).toBe("abc");
      expect(entry).toMatchObject({ position, messageCount: 3, publishedAtMs: 1234 });
    });

    test("keeps an entry of no bytes", async () => {
      await log.append({ parts: [], messageCount: 1, publishedAtMs: 0 });
      expect((await readAll(log)).map(textOf)).toEqual([""]);
    });

    test("refuses an entry that cannot be, and goes on", async () => {
      const parts = [Buffer.from("x")];
      for (const wrong of [
        { parts, messageCount: 0, publishedAtMs: 0 },
        { parts, messageCount: 2 ** 32, publishedAtMs: 0 },
        { parts, messageCount: 1, publishedAtMs: Number.NaN },
        { parts: [Buffer.alloc(70 * 1024 * 1024)], messageCount: 1, publishedAtMs: 0 },
      ])
        await expect(log.append(wrong)).rejects.toThrow(InvariantError);
      expect(await say(log, "right")).toEqual({ ledgerId: 0, entryId: 0 });
    });

    test("positions follow the order of the calls, through segments", async () => {
      const positions = await fill(7);
      expect(positions.map(({ ledgerId, entryId }) => [ledgerId, entryId])).toEqual([
        [0, 0],
        [0, 1],
        [0, 2],
        [1, 0],
        [1, 1],
        [1, 2],
        [2, 0],
      ]);
      expect(log.first).toEqual(positions[0]);
      expect(log.last).toEqual(positions[6]);
      expect(log.end).toEqual({ ledgerId: 2, entryId: 1 });
    });

    test("appends resolve in the order of their calls", async () => {
      const resolved: string[] = [];
      const note = (text: string): Promise<void> =>
        say(log, text).then(() => void resolved.push(text));
      await Promise.all(["a", "b", "c", "d", "e"].map(note));
      expect(resolved).toEqual(["a", "b", "c", "d", "e"]);
    });

    test("a read stops at its count and at its bytes, but gives at least one", async () => {
      await fill(3);
      expect(await log.read(EARLIEST, { countMax: 2, bytesMax: Infinity })).toHaveLength(2);
      expect(await log.read(EARLIEST, { countMax: 9, bytesMax: 15 })).toHaveLength(2);
      expect(await log.read(EARLIEST, { countMax: 9, bytesMax: 1 })).toHaveLength(1);
    });

    test("whatever the bounds of reads, all entries come once and in order", async () => {
      const said = Array.from({ length: 40 }, (_, number) =>
        `${number}`.padEnd((number * 29) % 50, "."),
      );
      // Not all at once, so that groups of several sizes are stored.
      for (const [from, to] of [
        [0, 3],
        [3, 4],
        [4, 11],
        [11, 40],
      ] as const)
        await Promise.all(said.slice(from, to).map((text) => say(log, text)));
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 9 }),
          fc.nat(120),
          async (countMax, bytesMax) => {
            expect((await readAll(log, { countMax, bytesMax })).map(textOf)).toEqual(said);
          },
        ),
        { numRuns: 60 },
      );
    });

    test("an entry larger than a segment has one for itself", async () => {
      await say(log, "small");
      const large = await say(log, "x".repeat(1000));
      const after = await say(log, "small");
      expect([large.ledgerId, after.ledgerId]).toEqual([1, 2]);
      expect((await readAll(log)).map((entry) => entry.bytes.length)).toEqual([5, 1000, 5]);
    });

    test("a position where no entry stands means the next one that does", async () => {
      const positions = await fill(5);
      const gap = { ledgerId: 0, entryId: 99 };
      expect((await log.read(gap, ALL))[0]?.position).toEqual(positions[3]);
      expect(log.next(gap)).toEqual(positions[3]);
      expect(log.previous(gap)).toEqual(positions[2]);
      expect(log.entryCountBetween(gap, log.end)).toBe(2);
      const before = { ledgerId: -1, entryId: -1 };
      expect(log.next(before)).toEqual(positions[0]);
      expect(log.previous(before)).toBeUndefined();
      const beyond = { ledgerId: 2 ** 40, entryId: 2 ** 40 };
      expect(log.next(beyond)).toEqual(log.end);
      expect(log.previous(beyond)).toEqual(positions[4]);
      expect(await log.read(beyond, ALL)).toEqual([]);
    });

    test("next and previous walk through all entries, and counts agree with the walk", async () => {
      const positions = await fill(10);
      for (const [index, position] of positions.entries()) {
        expect(log.next(position)).toEqual(positions[index + 1] ?? log.end);
        expect(log.previous(position)).toEqual(positions[index - 1]);
        expect(log.entryCountBetween(EARLIEST, position)).toBe(index);
        expect(log.entryCountBetween(position, log.end)).toBe(10 - index);
        expect(log.entryCountBetween(log.end, position)).toBe(0);
      }
    });

    test("finds the first entry published at a time or later, though time went back", async () => {
      const times = [10, 30, 20, 5, 40, 40, 1, 50];
      const positions: Position[] = [];
      for (const publishedAtMs of times) positions.push(await say(log, "entry", { publishedAtMs }));
      for (let atMs = 0; atMs <= 55; atMs += 5) {
        const first = times.findIndex((publishedAtMs) => publishedAtMs >= atMs);
        expect(await log.positionAtTime(atMs)).toEqual(positions[first] ?? log.end);
      }
    });

    test("trims whole segments that are before a position, and never the newest", async () => {
      const positions = await fill(10);
      await log.trimBefore({ ledgerId: 1, entryId: 2 });
      expect(log.first).toEqual(positions[3]);
      expect((await readAll(log)).map(textOf)[0]).toBe("entry 3");
      expect(log.entryCountBetween(EARLIEST, log.end)).toBe(7);
      const sizeBytes = log.sizeBytes;
      await log.trimBefore({ ledgerId: 9, entryId: 0 });
      expect(log.first).toEqual(positions[9]);
      expect(log.sizeBytes).toBeLessThan(sizeBytes);
    });

    test("after trimming, positions go on where they were", async () => {
      await fill(10);
      await log.trimBefore(log.end);
      const position = await say(log, "later");
      expect(position).toEqual({ ledgerId: 3, entryId: 1 });
      expect((await log.read(EARLIEST, ALL)).map(textOf)).toEqual(["entry 9", "later"]);
    });

    test("retention keeps consumed segments while they are young and few", async () => {
      const positions = await fill(10);
      const at = { nowMs: 10_000, consumedBefore: log.end };
      await log.trim({ ...at, ageMaxMs: Infinity, sizeMaxBytes: Infinity });
      expect(log.first).toEqual(positions[0]);
      await log.trim({ ...at, ageMaxMs: 6000, sizeMaxBytes: Infinity });
      expect(log.first).toEqual(positions[3]);
      await log.trim({ ...at, ageMaxMs: Infinity, sizeMaxBytes: 300 });
      expect(log.first).toEqual(positions[3]);
      await log.trim({ ...at, ageMaxMs: Infinity, sizeMaxBytes: 100 });
      expect(log.first).toEqual(positions[6]);
      await log.trim({ ...at, ageMaxMs: 0, sizeMaxBytes: Infinity });
      expect(log.first).toEqual(positions[9]);
    });

    test("a drained log replaces its newest segment, at once or after ten minutes", async () => {
      const positions = await fill(5);
      const none = { ageMaxMs: 0, sizeMaxBytes: 0 };
      const nowMs = 5000;
      await log.trim({ ...none, nowMs, consumedBefore: log.end, drainAfterMs: 5000 });
      await log.trim({ ...none, nowMs: nowMs + 590_000, consumedBefore: log.end });
      const [, , , , last = log.end] = positions;
      await log.trim({ ...none, nowMs, consumedBefore: last, drainAfterMs: 0 });
      const kept = { ageMaxMs: 1e6, sizeMaxBytes: 1e6, drainAfterMs: 0 };
      await log.trim({ ...kept, nowMs, consumedBefore: log.end });
      expect(log.last).toEqual(last);
      const before = log.end;
      await log.trim({ ...none, nowMs: nowMs + 610_000, consumedBefore: log.end });
      expect(log.last).toBeUndefined();
      expect(log.first).toEqual(log.end);
      expect(log.sizeBytes).toBeLessThan(40);
      expect(comparePositions(before, log.end)).toBeLessThanOrEqual(0);
      expect(log.next(last)).toEqual(log.end);
      expect(await say(log, "next")).toEqual({ ledgerId: 2, entryId: 0 });
      await log.trim({ ...none, nowMs, consumedBefore: log.end, drainAfterMs: 0 });
      expect(log.last).toBeUndefined();
      expect(await say(log, "again")).toEqual({ ledgerId: 3, entryId: 0 });
    });

    test("retention never removes what is not consumed", async () => {
      const positions = await fill(10);
      const consumedBefore = { ledgerId: 1, entryId: 1 };
      await log.trim({ nowMs: 1e9, consumedBefore, ageMaxMs: 0, sizeMaxBytes: 0 });
      expect(log.first).toEqual(positions[3]);
    });

    test("close waits for appends that have begun; later calls reject", async () => {
      const append = say(log, "before");
      await log.close();
      expect(await append).toEqual({ ledgerId: 0, entryId: 0 });
      await expect(say(log, "after")).rejects.toThrow(StorageClosedError);
      await expect(log.read(EARLIEST, ALL)).rejects.toThrow(StorageClosedError);
      await expect(log.trimBefore(log.end)).rejects.toThrow(StorageClosedError);
      await log.close();
    });
  });
}
