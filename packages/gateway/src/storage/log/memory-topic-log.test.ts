import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { describeTopicLog, say } from "../../../test/topic-log-contract.ts";
import { MemoryTopicLog } from "./memory-topic-log.ts";

describeTopicLog("a log in memory", (options) => Promise.resolve(new MemoryTopicLog(options)));

test("a log in memory refuses what goes beyond its bytes, and takes it after trimming", async () => {
  const log = new MemoryTopicLog({ bytesMax: 1000, segmentBytesMax: 100 });
  for (let number = 0; number < 20; number++) await say(log, "ten bytes.");
  const refused = say(log, "ten bytes.");
  await expect(refused).rejects.toMatchObject({ code: "STORAGE", kind: "full" });
  expect(log.sizeBytes).toBe(1000);
  await log.trimBefore({ ledgerId: 1, entryId: 0 });
  expect(await say(log, "ten bytes.")).toEqual({ ledgerId: 10, entryId: 0 });
});

/** Bytes in use after garbage collection, buffers included. */
function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

test("a log in memory makes the process grow by little more than the bytes that it counts", async () => {
  const parts = [Buffer.alloc(20), Buffer.alloc(40)];
  const before = usedBytes();
  const log = new MemoryTopicLog();
  for (let number = 0; number < 100_000; number++)
    await log.append({ parts, messageCount: 1, publishedAtMs: number });
  const grown = usedBytes() - before;
  expect(log.sizeBytes).toBe(10_000_000);
  expect(grown / log.sizeBytes).toBeLessThan(1.6);
});

test("ten thousand logs with one small entry each take less than 2 KiB a log", async () => {
  const before = usedBytes();
  const logs = Array.from({ length: 10_000 }, () => new MemoryTopicLog());
  for (const log of logs) await say(log, "ten bytes.");
  expect((usedBytes() - before) / logs.length).toBeLessThan(2 * 1024);
});
