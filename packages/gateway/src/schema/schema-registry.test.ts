import { SeededRandom } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import type { Schema } from "@sluice/pulsar/wire";
import { expect, test } from "vitest";
import { expectVersionsAfterCrashes } from "../../test/schema-crashes.ts";
import { SimulatedDisk } from "../../test/simulated-disk.ts";
import { FileSchemaStore } from "../storage/schema/file-schema-store.ts";
import { MemorySchemaStore } from "../storage/schema/memory-schema-store.ts";
import { SchemaRegistry } from "./schema-registry.ts";

function json(text: string): Schema {
  return { name: "s", type: 2, schemaData: Buffer.from(text) };
}

function newRegistry(): SchemaRegistry {
  return new SchemaRegistry(new MemorySchemaStore());
}

async function registryOn(disk: SimulatedDisk): Promise<SchemaRegistry> {
  return new SchemaRegistry(await FileSchemaStore.open(disk.mount(), "schemas"));
}

test("versions count from 0 in eight bytes, and the same schema has the same version", async () => {
  const registry = newRegistry();
  const first = await registry.put("t", json("a"));
  expect(first.toString("hex")).toBe("0000000000000000");
  expect((await registry.put("t", json("b"))).toString("hex")).toBe("0000000000000001");
  expect(await registry.put("t", json("a"))).toEqual(first);
});

test("the same schema put many times at once has one version", async () => {
  const registry = newRegistry();
  const puts = Array.from({ length: 20 }, (_, index) => registry.put("t", json(`${index % 2}`)));
  const versions = new Set((await Promise.all(puts)).map((version) => version.toString("hex")));
  expect([...versions]).toEqual(["0000000000000000", "0000000000000001"]);
});

test("the newest is given unless a version is asked for", async () => {
  const registry = newRegistry();
  const first = await registry.put("t", json("a"));
  await registry.put("t", json("b"));
  expect((await registry.get("t"))?.schema).toMatchObject(json("b"));
  expect((await registry.get("t", first))?.schema).toMatchObject(json("a"));
  expect(await registry.get("t", Buffer.alloc(8, 9))).toBeUndefined();
  expect(await registry.get("t", Buffer.alloc(3))).toBeUndefined();
  expect(await registry.get("other")).toBeUndefined();
});

test("a topic, its partitions and its short name have one schema", async () => {
  const registry = newRegistry();
  const version = await registry.put("persistent://public/default/t-partition-3", json("a"));
  expect((await registry.get("t"))?.version).toEqual(version);
});

test("properties count, their order does not", async () => {
  const registry = newRegistry();
  const [a, b] = [
    { key: "a", value: "1" },
    { key: "b", value: "2" },
  ];
  const version = await registry.put("t", { ...json("x"), properties: [a, b] });
  expect(await registry.put("t", { ...json("x"), properties: [b, a] })).toEqual(version);
  expect(await registry.put("t", { ...json("x"), properties: [a] })).not.toEqual(version);
});

test("a topic that gets ever new schemas is stopped", async () => {
  const registry = newRegistry();
  for (let index = 0; index < 1_000; index++) await registry.put("t", json(String(index)));
  await expect(registry.put("t", json("one more"))).rejects.toThrow("has 1000 versions");
  expect(await registry.put("t", json("7"))).toHaveLength(8);
  await expect(registry.put("u", json("x".repeat(5_000_000)))).rejects.toThrow("at most 4194304");
  const properties = [{ key: "k", value: "v".repeat(3_900_000) }];
  for (let index = 0; index < 4; index++)
    await registry.put("v", { ...json(`${index}`), properties });
  await expect(registry.put("v", { ...json("x"), properties })).rejects.toThrow("16777216 bytes");
});

test("a deleted topic begins again with version 0, in memory and after a restart", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const registry = await registryOn(disk);
  await registry.put("t", json("a"));
  await registry.put("t", json("b"));
  await Promise.all([registry.delete("t"), registry.put("t", json("c"))]);
  expect((await registry.get("t"))?.version.toString("hex")).toBe("0000000000000000");
  disk.crash();
  const after = await registryOn(disk);
  expect((await after.get("t"))?.schema).toMatchObject(json("c"));
  expect(await after.get("t", Buffer.from("0000000000000001", "hex"))).toBeUndefined();
});

test("what the cache forgets is loaded again, with the same versions", async () => {
  const store = new MemorySchemaStore();
  const registry = new SchemaRegistry(store, { cacheBytesMax: 10_000 });
  const topics = Array.from({ length: 50 }, (_, index) => `t${index}`);
  await Promise.all(topics.map((topic) => registry.put(topic, json(topic))));
  for (const topic of topics) {
    await Promise.all([registry.put(topic, json("b")), registry.put(topic, json("c"))]);
    expect((await registry.put(topic, json(topic))).readUInt8(7)).toBe(0);
    expect((await registry.get(topic))?.version.readUInt8(7)).toBe(2);
  }
});

test("the version that a client was told means the same schema after a crash at any point", async () => {
  for (let seed = 0; seed < 400; seed++) await expectVersionsAfterCrashes(seed);
});

/** 150 KB, most of it in properties. */
function large(index: number): Schema {
  return {
    ...json(`${index}`.padEnd(50_000)),
    properties: Array.from({ length: 2_000 }, (_, at) => ({ key: `${at}`, value: "v".repeat(50) })),
  };
}

test("a schema among 60 large versions is found by its hash", async () => {
  const registry = newRegistry();
  for (let index = 0; index < 60; index++) await registry.put("t", large(index));
  const tookMs: number[] = [];
  for (let round = 0; round < 5; round++) {
    const schema = large(59);
    const startedAtMs = systemTimer.now();
    await registry.put("t", schema);
    tookMs.push(systemTimer.now() - startedAtMs);
  }
  // To compare it with all versions took 600 ms.
  expect(Math.min(...tookMs)).toBeLessThan(100);
});

test("a damaged version is refused by name; its number is not given again and the others are there", async () => {
  const disk = new SimulatedDisk(new SeededRandom(1));
  const before = await registryOn(disk);
  for (const text of ["a", "b"]) await before.put("t", json(text));
  const path = disk.paths().find((name) => name.includes("/1-")) ?? "";
  disk.overwrite(path, Buffer.from(disk.content(path).seen).fill(0xff, 30));
  const after = await registryOn(disk);
  await expect(after.get("t")).rejects.toMatchObject({
    error: "PersistenceError",
    cause: { kind: "damaged", spot: { file: path } },
  });
  expect((await after.put("t", json("a"))).readUInt8(7)).toBe(0);
  expect((await after.put("t", json("c"))).readUInt8(7)).toBe(2);
});
