import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockFolder, nodeProcesses } from "./folder-lock.ts";
import type { Processes } from "./folder-lock.ts";

/** Which processes live, and since when. */
let living: Map<number, string>;
let folder = "";

function as(ownPid: number): Processes {
  return { ownPid, identify: (pid) => Promise.resolve(living.get(pid)) };
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-lock-"));
  living = new Map([
    [1, "10"],
    [2, "20"],
  ]);
});

afterEach(() => rm(folder, { recursive: true, force: true }));

test("who comes second is refused and told who is first", async () => {
  await lockFolder(as(1), folder);
  const second = lockFolder(as(2), folder);
  await expect(second).rejects.toMatchObject({ code: "STORAGE", kind: "locked" });
  await expect(second).rejects.toThrow("process 1");
});

test("a released folder can be taken, and nothing of the lock is left", async () => {
  const lock = await lockFolder(as(1), folder);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
  await lockFolder(as(2), folder);
});

test("the lock of a dead process is taken over, and its file goes", async () => {
  await lockFolder(as(1), folder);
  living.delete(1);
  const lock = await lockFolder(as(2), folder);
  await lock.release();
  expect(await readdir(folder)).toEqual([]);
});

test("a process that was given a dead one's id is not taken for it", async () => {
  await lockFolder(as(1), folder);
  living.set(1, "30");
  await lockFolder(as(1), folder);
});

test("one process takes a folder once", async () => {
  const lock = await lockFolder(as(1), folder);
  await expect(lockFolder(as(1), folder)).rejects.toMatchObject({ kind: "locked" });
  await expect(lockFolder(as(2), folder)).rejects.toMatchObject({ kind: "locked" });
  await lock.release();
  await lockFolder(as(1), folder);
});

test("of many who come at once one gets the folder at most, and who is refused leaves nothing", async () => {
  await lockFolder(as(1), folder);
  living.delete(1);
  const pids = Array.from({ length: 10 }, (_, index) => 10 + index);
  for (const pid of pids) living.set(pid, "40");
  const outcomes = await Promise.allSettled(pids.map((pid) => lockFolder(as(pid), folder)));
  const taken = outcomes.filter(({ status }) => status === "fulfilled");
  expect(taken.length).toBeLessThanOrEqual(1);
  expect(await readdir(folder)).toHaveLength(taken.length);
});

test("a folder that is not there is a storage error", async () => {
  const missing = lockFolder(as(1), join(folder, "missing"));
  await expect(missing).rejects.toMatchObject({ code: "STORAGE", kind: "failed" });
});

test("this process is told from one that does not live", async () => {
  const own = await nodeProcesses.identify(nodeProcesses.ownPid);
  expect(own).toBe(await nodeProcesses.identify(nodeProcesses.ownPid));
  expect(own).toBeDefined();
  expect(await nodeProcesses.identify(2 ** 30)).toBeUndefined();
});
