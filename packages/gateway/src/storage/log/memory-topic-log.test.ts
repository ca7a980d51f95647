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
