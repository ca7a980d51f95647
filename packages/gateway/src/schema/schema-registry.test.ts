import { expect, test } from "vitest";
import { SchemaRegistry } from "./schema-registry.ts";

function json(text: string): Parameters<SchemaRegistry["put"]>[1] {
  return { name: "s", type: 2, schemaData: Buffer.from(text) };
}

test("versions count from 0 in eight bytes, and the same schema has the same one", () => {
  const registry = new SchemaRegistry();
  const first = registry.put("t", json("a"));
  expect(first.toString("hex")).toBe("0000000000000000");
  expect(registry.put("t", json("b")).toString("hex")).toBe("0000000000000001");
  expect(registry.put("t", json("a"))).toEqual(first);
});

test("the newest is given unless a version is asked for", () => {
  const registry = new SchemaRegistry();
  const first = registry.put("t", json("a"));
  registry.put("t", json("b"));
  expect(registry.get("t")?.schema).toMatchObject(json("b"));
  expect(registry.get("t", first)?.schema).toMatchObject(json("a"));
  expect(registry.get("t", Buffer.alloc(8, 9))).toBeUndefined();
  expect(registry.get("other")).toBeUndefined();
});

test("a topic, its partitions and its short name have one schema", () => {
  const registry = new SchemaRegistry();
  const version = registry.put("persistent://public/default/t-partition-3", json("a"));
  expect(registry.get("t")?.version).toEqual(version);
});

test("properties count, their order does not", () => {
  const registry = new SchemaRegistry();
  const [a, b] = [
    { key: "a", value: "1" },
    { key: "b", value: "2" },
  ];
  const version = registry.put("t", { ...json("x"), properties: [a, b] });
  expect(registry.put("t", { ...json("x"), properties: [b, a] })).toEqual(version);
  expect(registry.put("t", { ...json("x"), properties: [a] })).not.toEqual(version);
});

test("what small schemas, names and properties cost is counted, too", () => {
  const registry = new SchemaRegistry();
  const empty = { name: "", type: 1, schemaData: Buffer.alloc(0) };
  const many = (): void => {
    for (let index = 0; index < 200_000; index++) registry.put(`t${index}`, empty);
  };
  expect(many).toThrow("no room");
  const other = new SchemaRegistry();
  const properties = [{ key: "k", value: "v".repeat(40 * 1024 * 1024) }];
  other.put("t", { ...empty, properties });
  expect(() => other.put("u", { ...empty, properties })).toThrow("no room");
});

test("a topic that gets ever new schemas is stopped", () => {
  const registry = new SchemaRegistry();
  for (let index = 0; index < 1_000; index++) registry.put("t", json(String(index)));
  expect(() => registry.put("t", json("one more"))).toThrow("no room");
});
