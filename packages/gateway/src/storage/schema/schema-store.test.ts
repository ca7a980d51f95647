import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeSchemaStore } from "../../../test/schema-store-contract.ts";
import { nodeFiles } from "../file/node-files.ts";
import { FileSchemaStore } from "./file-schema-store.ts";
import { MemorySchemaStore } from "./memory-schema-store.ts";

let base = "";
let folders = 0;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "sluice-schemas-"));
});

afterAll(() => rm(base, { recursive: true, force: true }));

describeSchemaStore("schemas in memory", () => Promise.resolve(new MemorySchemaStore()));

describeSchemaStore("schemas in files", () =>
  FileSchemaStore.open(nodeFiles, join(base, `schemas-${folders++}`)),
);

test("schemas in files are there when the store is opened again", async () => {
  const root = join(base, `schemas-${folders++}`);
  const before = await FileSchemaStore.open(nodeFiles, root);
  await before.save("t", 0, Buffer.from("a"));
  await before.close();
  const after = await FileSchemaStore.open(nodeFiles, root);
  expect(after.has("t")).toBe(true);
  expect((await after.load("t")).schemas.get(0)?.toString()).toBe("a");
  await after.close();
});
