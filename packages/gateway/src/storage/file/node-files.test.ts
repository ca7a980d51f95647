import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { errorAt, nodeFiles, nodeFilesWith } from "./node-files.ts";

let folder = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-files-"));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

test("writes parts one after the other, where it is told to, and reads them back", async () => {
  const file = await nodeFiles.openToWrite(join(folder, "file"));
  await file.write([Buffer.from("abc"), Buffer.alloc(0), Buffer.from("def")], 0);
  await file.write([Buffer.from("XY")], 2);
  await file.sync();
  const into = Buffer.alloc(10);
  expect(await file.read(into, 1)).toBe(5);
  expect(into.toString("latin1", 0, 5)).toBe("bXYef");
  await file.truncate(3);
  expect(await file.sizeBytes()).toBe(3);
  await file.close();
});

test.each([
  ["with a flag for durable writes", nodeFiles],
  ["without one", nodeFilesWith(undefined)],
])("on a system %s, a durable file takes parts as any other", async (_, files) => {
  const path = join(folder, "durable");
  const file = await files.openDurable(path);
  await file.write([Buffer.from("abc"), Buffer.from("def")], 0);
  await file.truncate(4);
  await file.sync();
  await file.close();
  expect(readFileSync(path, "utf8")).toBe("abcd");
  await files.remove(path);
});

test("a write of more parts than the system takes at once is whole", async () => {
  const file = await nodeFiles.openToWrite(join(folder, "many"));
  const parts = Array.from({ length: 5000 }, (_, number) => Buffer.from([number % 256]));
  await file.write(parts, 0);
  const into = Buffer.alloc(5001);
  expect(await file.read(into, 0)).toBe(5000);
  expect(into.subarray(0, 5000).equals(Buffer.concat(parts))).toBe(true);
  await file.close();
});

test("makes, lists, renames and removes", async () => {
  const inner = join(folder, "a", "b", "c");
  await nodeFiles.makeFolder(inner);
  await nodeFiles.makeFolder(inner);
  await (await nodeFiles.openToWrite(join(inner, "one"))).close();
  await nodeFiles.rename(join(inner, "one"), join(inner, "two"));
  await nodeFiles.syncFolder(inner);
  expect(await nodeFiles.list(inner)).toEqual(["two"]);
  await nodeFiles.remove(join(inner, "two"));
  await nodeFiles.remove(join(inner, "two"));
  expect(await nodeFiles.list(inner)).toEqual([]);
  await nodeFiles.removeFolder(join(folder, "a"));
  expect(await nodeFiles.list(folder)).not.toContain("a");
});

test("what cannot be done is a storage error that names the file", async () => {
  const path = join(folder, "missing", "file");
  const failed = { kind: "failed", spot: { file: path } };
  await expect(nodeFiles.openToRead(path)).rejects.toMatchObject(failed);
  await expect(nodeFiles.openToWrite(path)).rejects.toMatchObject(failed);
});

test.skipIf(!existsSync("/dev/full"))("a disk without space is full, not failed", async () => {
  const file = await nodeFiles.openToWrite("/dev/full");
  await expect(file.write([Buffer.from("x")], 0)).rejects.toMatchObject({ kind: "full" });
  await file.close();
});

test.each([
  ["ENOSPC", "full", "free space"],
  ["EDQUOT", "full", "quota"],
  ["EMFILE", "out-of-descriptors", "ulimit -n"],
  ["ENFILE", "out-of-descriptors", "fs.file-max"],
])("%s is told as %s, with the file and the way out, and may heal", (code, kind, wayOut) => {
  const cause = Object.assign(new Error("plain"), { code });
  const error = errorAt("data/topic/1.log", cause);
  expect(error).toMatchObject({ kind, mayHeal: true, cause, spot: { file: "data/topic/1.log" } });
  expect(error.message).toContain(wayOut);
  expect(error.message).toContain("data/topic/1.log");
  expect(errorAt("data/topic/1.log", cause, "failed")).toMatchObject({
    kind: "failed",
    mayHeal: false,
  });
});
