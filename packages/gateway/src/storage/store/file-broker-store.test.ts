import { appendFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { BrokerEvent } from "../../observe/broker-event.ts";
import { SeededRandom } from "@sluice/core";
import { openStoreOn } from "../../../test/file-world.ts";
import { SimulatedDisk } from "../../../test/simulated-disk.ts";
import { describeBrokerStore } from "../../../test/broker-store-contract.ts";
import { textsOf } from "../../../test/document-store-contract.ts";
import { readAll, say, textOf } from "../../../test/topic-log-contract.ts";
import { fileNameOf } from "../file/stored-name.ts";
import { inspectData } from "../inspect/inspect-data.ts";
import { FileBrokerStore } from "./file-broker-store.ts";

let base = "";
let folders = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-store-"));
});

afterAll(() => rm(base, { recursive: true, force: true }));

function newRoot(): string {
  return join(base, `store-${folders++}`);
}

describeBrokerStore("a store in files", () => FileBrokerStore.open(newRoot()));

test("a store in files has all when it is opened again", async () => {
  const root = newRoot();
  const before = await FileBrokerStore.open(root);
  const { log, cursors } = await before.openTopic("topic");
  await say(log, "entry");
  await cursors.save("subscription", Buffer.from("cursor"));
  await before.savePartitionCount("orders", 3);
  await before.documents.save("policies", Buffer.from("none"));
  await before.close();
  const after = await FileBrokerStore.open(root);
  expect(after.topics()).toEqual(["topic"]);
  expect(Object.fromEntries(after.partitionCounts())).toEqual({ orders: 3 });
  expect(await textsOf(after.documents)).toEqual({ policies: "none" });
  const topic = await after.openTopic("topic");
  expect((await readAll(topic.log)).map(textOf)).toEqual(["entry"]);
  expect(await textsOf(topic.cursors)).toEqual({ subscription: "cursor" });
  await after.close();
});

test("a folder is open once, and can be taken again after it was closed", async () => {
  const root = newRoot();
  const first = await FileBrokerStore.open(root);
  const second = FileBrokerStore.open(root);
  await expect(second).rejects.toMatchObject({ code: "STORAGE", kind: "locked" });
  await first.close();
  await (await FileBrokerStore.open(root)).close();
});

test("what is not of the store, such as lost+found, is left alone, and the rest is there", async () => {
  const root = newRoot();
  const before = await FileBrokerStore.open(root);
  await (await before.openTopic("t")).close();
  await before.close();
  const foreign = ["topics/lost+found/notes", "schemas/notes"].map((path) => join(root, path));
  await mkdir(join(root, "topics", "lost+found"));
  for (const file of [...foreign, join(root, "topics", ".DS_Store")]) await writeFile(file, "kept");
  const after = await FileBrokerStore.open(root);
  expect(after.topics()).toEqual(["t"]);
  await after.close();
  for (const file of foreign) expect(await readFile(file, "utf8")).toBe("kept");
  expect(await inspectData(root)).toMatchObject({ topics: [{ name: "t" }], damage: [] });
});

test("what was being made or removed in a crash is cleared away", async () => {
  const root = newRoot();
  await (await FileBrokerStore.open(root)).close();
  await mkdir(join(root, "topics", fileNameOf("half-made")));
  await mkdir(join(root, "topics", "half-removed.gone"));
  await writeFile(join(root, "topics", "half-removed.gone", "0000000000.log"), "");
  const store = await FileBrokerStore.open(root);
  expect(store.topics()).toEqual([]);
  expect(await readdir(join(root, "topics"))).toEqual([]);
  await store.close();
});

test.each(["damaged", "missing"])(
  "a topic whose name file is %s is reported, found again by its name, and keeps nobody else out",
  async (how) => {
    const root = newRoot();
    const before = await FileBrokerStore.open(root);
    for (const name of ["topic", "other"]) await say((await before.openTopic(name)).log, name);
    await before.close();
    const inside = await readdir(join(root, "topics"));
    const folder = inside.find((name) => name.startsWith("topic-")) ?? "";
    const file = join(root, "topics", folder, "name");
    if (how === "missing") await rm(file);
    else await writeFile(file, "nonsense");
    const events: BrokerEvent[] = [];
    const after = await FileBrokerStore.open(root, { observe: (event) => events.push(event) });
    expect(events).toMatchObject([{ kind: "damaged", error: { kind: "damaged", spot: { file } } }]);
    expect(after.topics()).toEqual(["other"]);
    const { log } = await after.openTopic("topic");
    expect((await readAll(log)).map(textOf)).toEqual(["topic"]);
    expect(events.slice(1)).toEqual([{ kind: "healed", topic: "topic" }]);
    await after.close();
    const last = await FileBrokerStore.open(root);
    expect(last.topics().toSorted()).toEqual(["other", "topic"]);
    await last.close();
  },
);

test("damaged documents, cursors and schemas are told with their files", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const before = await openStoreOn(disk.mount());
  await (await before.openTopic("topic")).cursors.save("s", Buffer.from("cursor"));
  await before.schemas.save("topic", 0, Buffer.from("schema"));
  await before.documents.save("policies", Buffer.from("none"));
  const paths = disk.paths().filter((path) => /\.(cursor|schema|document)$/.test(path));
  expect(paths).toHaveLength(3);
  for (const path of paths) disk.overwrite(path, Buffer.from("nonsense"));
  disk.kill();
  const events: BrokerEvent[] = [];
  const after = await openStoreOn(disk.mount(), { observe: (event) => events.push(event) });
  await (await after.openTopic("topic")).cursors.load();
  await after.schemas.load("topic");
  await after.documents.load();
  expect(events).toMatchObject([
    { kind: "damaged", topic: "topic", error: { spot: { file: paths[2] } } },
    { kind: "damaged", topic: "topic", error: { spot: { file: paths[1] } } },
    { kind: "damaged", topic: undefined, error: { spot: { file: paths[0] } } },
  ]);
});

test("what happens to a log is told with the name of its topic", async () => {
  const root = newRoot();
  const before = await FileBrokerStore.open(root);
  await say((await before.openTopic("topic")).log, "entry");
  await before.close();
  const [folder = ""] = await readdir(join(root, "topics"));
  // As after a crash: without a seal, and with bytes of a write that was not finished.
  await rm(join(root, "topics", folder, "0000000000.seal"));
  await appendFile(join(root, "topics", folder, "0000000000.log"), "torn");
  const events: BrokerEvent[] = [];
  const after = await FileBrokerStore.open(root, { observe: (event) => events.push(event) });
  await after.openTopic("topic");
  expect(events).toEqual([{ kind: "tail-cut", topic: "topic", bytes: 4 }]);
  await after.close();
});

test("a damaged topic does not open, and the others do", async () => {
  const root = newRoot();
  const before = await FileBrokerStore.open(root);
  for (const name of ["good", "bad"]) await say((await before.openTopic(name)).log, "entry");
  await before.close();
  const bad = (await readdir(join(root, "topics"))).find((name) => name.startsWith("bad")) ?? "";
  await writeFile(join(root, "topics", bad, "0000000000.seal"), "nonsense");
  const after = await FileBrokerStore.open(root);
  for (let attempt = 0; attempt < 2; attempt++)
    await expect(after.openTopic("bad")).rejects.toMatchObject({ kind: "damaged" });
  expect((await readAll((await after.openTopic("good")).log)).map(textOf)).toEqual(["entry"]);
  await after.close();
});
