import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { worldOn } from "../../../test/file-world.ts";
import { SimulatedDisk } from "../../../test/simulated-disk.ts";
import { describeTopicLog, readAll, say, textOf } from "../../../test/topic-log-contract.ts";
import { FileTopicLog } from "./file-topic-log.ts";
import type { LogFiles } from "../file/log-files.ts";
import { nodeFiles } from "../file/node-files.ts";

let root = "";
let folders = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-log-"));
});

afterAll(() => rm(root, { recursive: true, force: true }));

describeTopicLog("a log in files, read from files", (options) =>
  FileTopicLog.open(worldOn(nodeFiles), join(root, `log-${folders++}`), {
    ...options,
    drainedBytesMin: 1,
  }),
);

describeTopicLog("a log in files, read from its cache", (options) =>
  FileTopicLog.open(worldOn(nodeFiles, 1e6), join(root, `log-${folders++}`), {
    ...options,
    drainedBytesMin: 1,
  }),
);

test("a log that was closed has all when it is opened again, and goes on in a new segment", async () => {
  const folder = join(root, `log-${folders++}`);
  const options = { segmentBytesMax: 200 };
  const before = await FileTopicLog.open(worldOn(nodeFiles), folder, options);
  for (const text of ["a", "b", "c", "d", "e"]) await say(before, text, { publishedAtMs: 5 });
  const { end } = before;
  await before.close();
  const after = await FileTopicLog.open(worldOn(nodeFiles), folder, options);
  expect(after.end).toEqual(end);
  expect((await readAll(after)).map(textOf)).toEqual(["a", "b", "c", "d", "e"]);
  expect(await after.positionAtTime(5)).toEqual({ ledgerId: 0, entryId: 0 });
  expect(await say(after, "f")).toEqual({ ledgerId: end.ledgerId + 1, entryId: 0 });
  await after.close();
});

test("entries of any sizes are read from any position, from files and from memory", async () => {
  const sizes = fc.array(fc.oneof(fc.nat(100), fc.nat(40_000), fc.constant(1_500_000)), {
    minLength: 1,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(sizes, fc.nat(100_000), fc.boolean(), async (all, bytesMax, isCached) => {
      const disk = new SimulatedDisk(new SeededRandom(1));
      const world = worldOn(disk.mount(), isCached ? 2e6 : 0);
      const log = await FileTopicLog.open(world, "log", { segmentBytesMax: 100_000 });
      const entries = all.map((size, number) => Buffer.alloc(size, number));
      const positions = await Promise.all(
        entries.map((bytes) => log.append({ parts: [bytes], messageCount: 1, publishedAtMs: 0 })),
      );
      for (const [number, position] of positions.entries()) {
        const found = await log.read(position, { countMax: 5, bytesMax });
        expect(found.length).toBeGreaterThan(0);
        for (const [index, entry] of found.entries()) {
          expect(entry.position).toEqual(positions[number + index]);
          expect(Buffer.compare(entry.bytes, entries[number + index] ?? Buffer.alloc(0))).toBe(0);
        }
        const sumBytes = found.reduce((sum, { bytes }) => sum + bytes.length, 0);
        expect(found.length === 1 || sumBytes <= bytesMax).toBe(true);
      }
    }),
    { numRuns: 40 },
  );
});

/** Files of which one kind of call waits until it is let go. */
function heldFiles(call: "openToRead" | "remove"): { files: LogFiles; letGo: () => void } {
  const files = new SimulatedDisk(new SeededRandom(1)).mount();
  const gate = new AbortController();
  const held = new Promise<void>((resolve) => {
    gate.signal.addEventListener("abort", () => resolve());
  });
  const waiting = {
    openToRead: async (path: string) => {
      await held;
      return files.openToRead(path);
    },
    remove: async (path: string) => {
      await held;
      await files.remove(path);
    },
  };
  return { files: { ...files, [call]: waiting[call] }, letGo: () => gate.abort() };
}

/** A log of three entries in three segments. */
async function threeSegments(files: LogFiles): Promise<FileTopicLog> {
  const log = await FileTopicLog.open(worldOn(files), "log", { segmentBytesMax: 100 });
  for (const text of ["a", "b", "c"]) await say(log, text.repeat(40));
  return log;
}

test("a read whose segment is trimmed meanwhile goes on with the next one", async () => {
  const { files, letGo } = heldFiles("openToRead");
  const log = await threeSegments(files);
  const reading = log.read({ ledgerId: 0, entryId: 0 }, { countMax: 1, bytesMax: 1 });
  await log.trimBefore({ ledgerId: 1, entryId: 0 });
  letGo();
  expect((await reading).map(textOf)).toEqual(["b".repeat(40)]);
});

test("close waits for reads that have begun", async () => {
  const { files, letGo } = heldFiles("openToRead");
  const log = await threeSegments(files);
  const ended: string[] = [];
  const reading = log.read(log.first, { countMax: 1, bytesMax: 1 }).then(() => ended.push("read"));
  const closing = log.close().then(() => ended.push("close"));
  await nextTurn();
  letGo();
  await Promise.all([reading, closing]);
  expect(ended).toEqual(["read", "close"]);
});

test("close waits for a trim that has begun", async () => {
  const { files, letGo } = heldFiles("remove");
  const log = await threeSegments(files);
  const ended: string[] = [];
  const trimming = log.trimBefore(log.end).then(() => ended.push("trim"));
  await nextTurn();
  const closing = log.close().then(() => ended.push("close"));
  await nextTurn();
  letGo();
  await Promise.all([trimming, closing]);
  expect(ended).toEqual(["trim", "close"]);
});

test("a log whose oldest segment cannot be removed stops, so that no gap is made", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const log = await threeSegments(disk.mount());
  disk.fault = { atCall: disk.calls, kind: "failed" };
  await expect(log.trimBefore(log.end)).rejects.toMatchObject({ kind: "failed" });
  await expect(log.trimBefore(log.end)).rejects.toMatchObject({ kind: "failed" });
  disk.kill();
  const after = await FileTopicLog.open(worldOn(disk.mount()), "log");
  expect(await readAll(after)).toHaveLength(3);
});

test("all who wait while a group is synced share the next sync", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const log = await FileTopicLog.open(worldOn(disk.mount()), "log");
  await say(log, "makes the segment");
  const callsBefore = disk.calls;
  await Promise.all(Array.from({ length: 1000 }, () => say(log, "x")));
  // One write and one sync.
  expect(disk.calls - callsBefore).toBe(2);
});

/** Files that count the bytes that are read. */
function countingFiles(): {
  readonly files: LogFiles;
  readonly read: { bytes: number; opens: number };
} {
  const files = new SimulatedDisk(new SeededRandom(1)).mount();
  const read = { bytes: 0, opens: 0 };
  const openToRead: LogFiles["openToRead"] = async (path) => {
    const file = await files.openToRead(path);
    read.opens++;
    return {
      sizeBytes: () => file.sizeBytes(),
      close: () => file.close(),
      read: (into, offsetBytes) => {
        read.bytes += into.length;
        return file.read(into, offsetBytes);
      },
    };
  };
  return { files: { ...files, openToRead }, read };
}

test("readers that take one entry at a time read each byte of the files about once", async () => {
  const { files, read } = countingFiles();
  const log = await FileTopicLog.open(worldOn(files), "log", { segmentBytesMax: 400_000 });
  const bytes = Buffer.alloc(1000);
  for (let count = 0; count < 1000; count++)
    await log.append({ parts: [bytes], messageCount: 1, publishedAtMs: 0 });
  expect(await readAll(log, { countMax: 1, bytesMax: 1024 * 1024 })).toHaveLength(1000);
  expect(read.bytes).toBeLessThan(2 * log.sizeBytes);
  expect(read.opens).toBeLessThan(40);
  // Two that take turns at different places do not take each other's bytes away.
  read.bytes = 0;
  for (let count = 0; count < 200; count++)
    for (const ledgerId of [0, 1])
      await log.read({ ledgerId, entryId: count }, { countMax: 1, bytesMax: 1024 });
  expect(read.bytes).toBeLessThan(2 * 2 * 200 * 1100);
});

test("what was read is bounded, and given back when a segment or a log goes", async () => {
  const world = worldOn(new SimulatedDisk(new SeededRandom(1)).mount());
  const log = await FileTopicLog.open(world, "log", { segmentBytesMax: 300_000 });
  const bytes = Buffer.alloc(100_000);
  for (let count = 0; count < 30; count++)
    await log.append({ parts: [bytes], messageCount: 1, publishedAtMs: 0 });
  await readAll(log);
  expect(world.readCache.usedBytes).toBeGreaterThan(500_000);
  expect(world.readCache.usedBytes).toBeLessThanOrEqual(1024 * 1024);
  await log.trimBefore(log.end);
  expect(world.readCache.usedBytes).toBeLessThan(300_000);
  await readAll(log);
  await log.close();
  expect(world.readCache.usedBytes).toBe(0);
});
