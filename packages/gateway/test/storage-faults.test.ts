/** Full and failing disks: what a caller is told, and what is left. */
import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import { FileTopicLog } from "../src/storage/log/file-topic-log.ts";
import type { LogEvent } from "../src/storage/log/log-event.ts";
import { StorageError } from "../src/storage/storage-error.ts";
import { FOLDER, openOn, worldOn } from "./file-world.ts";
import { SimulatedDisk } from "./simulated-disk.ts";
import { readAll, say, textOf } from "./topic-log-contract.ts";

const FULL = { code: "STORAGE", kind: "full" };
const OPTIONS = { segmentBytesMax: 300 };

function newDisk(): SimulatedDisk {
  return new SimulatedDisk(new SeededRandom(1));
}

test("a full disk refuses appends, lets readers go on, and takes appends again by itself", async () => {
  for (let freeBytes = 0; freeBytes < 500; freeBytes += 7) {
    const disk = newDisk();
    const log = await openOn(disk.mount(), OPTIONS);
    await say(log, "before");
    disk.freeBytes = freeBytes;
    const kept: string[] = ["before"];
    let refusals = 0;
    for (let number = 0; number < 20; number++) {
      // Of many sizes, so that a small one may fit where a large one did not.
      const text = `entry ${number}`.padEnd((number * 37) % 120);
      await say(log, text).then(
        () => kept.push(text),
        (error: unknown) => {
          expect(error).toMatchObject(FULL);
          refusals++;
        },
      );
    }
    expect(refusals).toBeGreaterThan(0);
    expect((await readAll(log)).map(textOf)).toEqual(kept);
    disk.freeBytes = Infinity;
    kept.push("after");
    await say(log, "after");
    expect((await readAll(log)).map(textOf)).toEqual(kept);
    disk.kill();
    expect((await readAll(await openOn(disk.mount(), OPTIONS))).map(textOf)).toEqual(kept);
  }
});

test("a disk that is full is told once, and so is its recovery", async () => {
  const disk = newDisk();
  const events: LogEvent[] = [];
  const log = await openOn(disk.mount(), OPTIONS, (event) => events.push(event));
  for (let time = 0; time < 2; time++) {
    disk.freeBytes = 0;
    for (let count = 0; count < 5; count++)
      await expect(say(log, "refused")).rejects.toMatchObject(FULL);
    disk.freeBytes = Infinity;
    for (let count = 0; count < 5; count++) await say(log, "taken");
  }
  const told = ["storage-full", "healed", "storage-full", "healed"];
  expect(events.map(({ kind }) => kind)).toEqual(told);
});

test("a drained log that finds no room for a new segment keeps the old one, and tries again", async () => {
  const disk = newDisk();
  const log = await openOn(disk.mount(), { drainedBytesMin: 1 });
  await say(log, "consumed");
  const retention = { nowMs: 1, ageMaxMs: 0, sizeMaxBytes: 0, drainAfterMs: 0 };
  disk.freeBytes = 0;
  await log.trim({ ...retention, consumedBefore: log.end });
  expect((await readAll(log)).map(textOf)).toEqual(["consumed"]);
  disk.freeBytes = Infinity;
  await log.trim({ ...retention, consumedBefore: log.end });
  expect(await readAll(log)).toEqual([]);
  expect(await say(log, "next")).toEqual({ ledgerId: 1, entryId: 0 });
});

test("what waits behind an entry that a full disk refuses is refused, even if it would fit", async () => {
  const disk = newDisk();
  // One entry makes a group.
  const log = await openOn(disk.mount(), { groupBytesMax: 1 });
  await say(log, "before");
  disk.freeBytes = 300;
  const texts = ["fits", "x".repeat(500), "would fit"];
  const outcomes = await Promise.allSettled(texts.map((text) => say(log, text)));
  expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "rejected"]);
  await say(log, "after");
  expect((await readAll(log)).map(textOf)).toEqual(["before", "fits", "after"]);
});

test("a segment that cannot be removed now goes first when it can", async () => {
  const disk = newDisk();
  const log = await openOn(disk.mount(), OPTIONS);
  for (let number = 0; number < 15; number++) await say(log, `entry ${number}`);
  disk.fault = { atCall: disk.calls, kind: "full" };
  await expect(log.trimBefore({ ledgerId: 1, entryId: 0 })).rejects.toMatchObject(FULL);
  disk.fault = undefined;
  await log.trimBefore({ ledgerId: 2, entryId: 0 });
  const [first] = (await readAll(log)).map(textOf);
  await log.close();
  expect((await readAll(await openOn(disk.mount(), OPTIONS))).map(textOf)[0]).toBe(first);
  expect(disk.paths()[0]).toContain("0000000002");
});

test("a log on a full disk closes, opens and is read", async () => {
  const disk = newDisk();
  const log = await openOn(disk.mount());
  await say(log, "kept");
  disk.freeBytes = 0;
  await log.close();
  const after = await openOn(disk.mount());
  expect((await readAll(after)).map(textOf)).toEqual(["kept"]);
  await expect(say(after, "refused")).rejects.toMatchObject(FULL);
  disk.freeBytes = Infinity;
  expect(await say(after, "taken")).toEqual({ ledgerId: 1, entryId: 0 });
});

test("an entry larger than a segment that is refused again and again makes no segments", async () => {
  const disk = newDisk();
  const log = await openOn(disk.mount(), OPTIONS);
  await say(log, "before");
  disk.freeBytes = 300;
  for (let attempt = 0; attempt < 10; attempt++)
    await expect(say(log, "x".repeat(1000))).rejects.toMatchObject(FULL);
  expect(disk.paths().filter((path) => path.endsWith(".log"))).toHaveLength(2);
  disk.freeBytes = Infinity;
  expect(await say(log, "x".repeat(1000))).toEqual({ ledgerId: 1, entryId: 0 });
});

test("a crash after a refusal does not bring back what was refused", async () => {
  for (let seed = 0; seed < 50; seed++) {
    const disk = new SimulatedDisk(new SeededRandom(seed));
    const log = await openOn(disk.mount());
    await say(log, "kept");
    disk.freeBytes = 300;
    const refused = ["a", "b", "c"].map((text) => say(log, text.repeat(70)));
    for (const { status } of await Promise.allSettled(refused)) expect(status).toBe("rejected");
    disk.crash();
    const events: LogEvent[] = [];
    const after = await openOn(disk.mount(), {}, (event) => events.push(event));
    expect((await readAll(after)).map(textOf)).toEqual(["kept"]);
    expect(events).toEqual([]);
  }
});

test("a failed sync is final: nobody is acknowledged, and no later append or read is served", async () => {
  const disk = newDisk();
  const log = await openOn(disk.mount());
  await say(log, "kept");
  disk.fault = { atCall: disk.calls + 1, kind: "failed" };
  const group = [say(log, "one"), say(log, "two")];
  for (const outcome of await Promise.allSettled(group)) expect(outcome.status).toBe("rejected");
  disk.fault = undefined;
  const callsBefore = disk.calls;
  await expect(say(log, "three")).rejects.toMatchObject({ code: "STORAGE", kind: "failed" });
  await expect(readAll(log)).rejects.toThrow(StorageError);
  expect(disk.calls).toBe(callsBefore);
  expect(log.failure?.kind).toBe("failed");
  await log.close();
  disk.crash();
  const [first] = (await readAll(await openOn(disk.mount()))).map(textOf);
  expect(first).toBe("kept");
});

test("whichever call fails, the log stops or goes on, and acknowledged entries stay", async () => {
  for (const kind of ["failed", "full", "out-of-descriptors"] as const) {
    for (let atCall = 0; atCall < 60; atCall++) {
      const disk = newDisk();
      disk.fault = { atCall, kind };
      const acknowledged: string[] = [];
      await openOn(disk.mount(), OPTIONS)
        .then((log) => appendAndClose(log, acknowledged))
        .catch(() => undefined);
      disk.fault = undefined;
      disk.crash();
      const found = (await readAll(await openOn(disk.mount(), OPTIONS))).map(textOf);
      expect(found.filter((text) => acknowledged.includes(text))).toEqual(acknowledged);
    }
  }
});

/** Appends whatever happens, and notes what was acknowledged. */
async function appendAndClose(log: FileTopicLog, acknowledged: string[]): Promise<void> {
  for (let number = 0; number < 15; number++)
    await say(log, `entry ${number}`).then(
      () => acknowledged.push(`entry ${number}`),
      () => undefined,
    );
  await log.close();
}

test("a lack of descriptors at any call refuses what was tried, and the next attempt succeeds", async () => {
  for (let atCall = 0; atCall < 30; atCall++) {
    const disk = newDisk();
    const log = await openOn(disk.mount(), { segmentBytesMax: 150 });
    disk.fault = { atCall: disk.calls + atCall, kind: "out-of-descriptors" };
    const stored: string[] = [];
    for (let number = 0; number < 6; number++)
      await say(log, `entry ${number}`).then(
        () => stored.push(`entry ${number}`),
        (error: unknown) => expect(error).toBeInstanceOf(StorageError),
      );
    // A failed sync is final, whatever the reason; all else heals.
    if (log.failure !== undefined) continue;
    expect(stored.length).toBeGreaterThanOrEqual(5);
    expect((await readAll(log)).map(textOf)).toEqual(stored);
  }
});

test("what waits to be durable is bounded", async () => {
  const log = await FileTopicLog.open(worldOn(newDisk().mount()), FOLDER, { pendingBytesMax: 500 });
  const outcomes = await Promise.allSettled(
    Array.from({ length: 100 }, () => say(log, "ten bytes.")),
  );
  const refused = outcomes.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(89);
  await say(log, "there is room again");
});
