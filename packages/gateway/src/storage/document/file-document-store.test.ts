import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeDocumentStore, textsOf } from "../../../test/document-store-contract.ts";
import { SimulatedDisk } from "../../../test/simulated-disk.ts";
import { FileDocumentStore } from "./file-document-store.ts";
import { nodeFiles } from "../file/node-files.ts";

const PLACE = { folder: "topic/cursors", ending: ".cursor" };

let root = "";
let folders = 0;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "sluice-cursors-"));
});

afterAll(() => rm(root, { recursive: true, force: true }));

describeDocumentStore(
  "documents in files",
  () =>
    new FileDocumentStore(nodeFiles, {
      folder: join(root, `documents-${folders++}`),
      ending: ".document",
    }),
);

test("after a crash at any call a cursor is the last one acknowledged or a later one", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(60), fc.integer(), async (crashAtCall, seed) => {
      const disk = new SimulatedDisk(new SeededRandom(seed));
      const cursors = new FileDocumentStore(disk.mount(), PLACE);
      disk.fault = { atCall: crashAtCall, kind: "crash" };
      let acknowledged = -1;
      let sent = -1;
      const saveAll = async (): Promise<void> => {
        while (sent < 9) {
          sent++;
          await cursors.save("name", Buffer.from(`${sent}`.repeat(sent * 20 + 1)));
          acknowledged = sent;
        }
      };
      void saveAll();
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      disk.crash();
      disk.fault = undefined;
      const { name } = await textsOf(new FileDocumentStore(disk.mount(), PLACE));
      const found = name === undefined ? -1 : Number(name[0]);
      expect(found).toBeGreaterThanOrEqual(acknowledged);
      expect(found).toBeLessThanOrEqual(sent);
      if (name !== undefined) expect(name).toBe(`${found}`.repeat(found * 20 + 1));
    }),
    { numRuns: 300 },
  );
});

test("a save that finds the disk full leaves the former cursor, and a later one succeeds", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const cursors = new FileDocumentStore(disk.mount(), PLACE);
  await cursors.save("name", Buffer.from("former"));
  disk.freeBytes = 10;
  const refused = cursors.save("name", Buffer.from("refused"));
  await expect(refused).rejects.toMatchObject({ code: "STORAGE", kind: "full" });
  expect(disk.paths()).toHaveLength(1);
  expect(await textsOf(cursors)).toEqual({ name: "former" });
  disk.freeBytes = Infinity;
  await cursors.save("name", Buffer.from("later"));
  expect(await textsOf(cursors)).toEqual({ name: "later" });
});

test("what a crash left of a longer cursor does no harm to a shorter one", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const cursors = new FileDocumentStore(disk.mount(), PLACE);
  await cursors.save("name", Buffer.from("1"));
  const [path = ""] = disk.paths();
  disk.overwrite(`${path}.new`, Buffer.alloc(1000));
  await cursors.save("name", Buffer.from("2"));
  disk.overwrite(`${path}.new`, Buffer.alloc(1000));
  expect(await textsOf(cursors)).toEqual({ name: "2" });
  expect(disk.paths()).toEqual([path]);
});

test("a flipped byte anywhere in a document, or a document cut short, is named; the others load", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const store = new FileDocumentStore(disk.mount(), PLACE);
  await store.save("name", Buffer.from("where it is"));
  const [path = ""] = disk.paths();
  await store.save("other", Buffer.from("whole"));
  const { seen } = disk.content(path);
  for (let at = 0; at < seen.length; at++) {
    const flipped = Buffer.from(seen);
    flipped[at] = (seen[at] ?? 0) ^ 4;
    for (const bytes of [flipped, seen.subarray(0, at)]) {
      disk.overwrite(path, bytes);
      const { documents, damaged } = await new FileDocumentStore(disk.mount(), PLACE).load();
      expect([...documents.keys()]).toEqual(["other"]);
      expect(damaged.get("name")).toMatchObject({ kind: "damaged", spot: { file: path } });
    }
  }
});

test("a cursor under another one's file name is named", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const cursors = new FileDocumentStore(disk.mount(), PLACE);
  await cursors.save("name", Buffer.from("1"));
  const [path = ""] = disk.paths();
  const other = path.replace("name-", "mane-");
  await disk.mount().rename(path, other);
  await expect(cursors.load()).rejects.toMatchObject({ kind: "damaged", spot: { file: other } });
});

test("a long name is found in a document that is damaged elsewhere; without a name loading is refused", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const name = "persistent://tenant/namespace/".repeat(20);
  await new FileDocumentStore(disk.mount(), PLACE).save(name, Buffer.from("content"));
  const [path = ""] = disk.paths();
  const { seen } = disk.content(path);
  const flipped = (at: number): Buffer => {
    const bytes = Buffer.from(seen);
    bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    return bytes;
  };
  disk.overwrite(path, flipped(seen.length - 1));
  const { damaged } = await new FileDocumentStore(disk.mount(), PLACE).load();
  expect([...damaged.keys()]).toEqual([name]);
  disk.overwrite(path, flipped(seen.length - 100));
  await expect(new FileDocumentStore(disk.mount(), PLACE).load()).rejects.toMatchObject({
    kind: "damaged",
    message: expect.stringContaining("move it away") as string,
    spot: { file: path },
  });
});

test("many saves of one name at once are two saves on the disk", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const cursors = new FileDocumentStore(disk.mount(), PLACE);
  await cursors.save("name", Buffer.from("first"));
  const callsOfOne = disk.calls;
  const first = cursors.save("name", Buffer.from("0"));
  await Promise.resolve();
  const saves = Array.from({ length: 100 }, () => cursors.save("name", Buffer.from("1")));
  await Promise.all([first, ...saves]);
  expect(disk.calls).toBe(callsOfOne * 3);
});

test("saves of one name never run at once, however closely they follow", async () => {
  for (let pause = 0; pause < 30; pause++) {
    const disk = new SimulatedDisk(new SeededRandom(1));
    const cursors = new FileDocumentStore(disk.mount(), PLACE);
    const saves: Promise<void>[] = [];
    for (const text of ["1", "2", "3", "4"]) {
      saves.push(cursors.save("name", Buffer.from(text)));
      for (let turn = 0; turn < pause; turn++) await Promise.resolve();
    }
    await Promise.all(saves);
    expect(await textsOf(cursors)).toEqual({ name: "4" });
  }
});
