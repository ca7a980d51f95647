/** The crash scenario behind the tests of schema versions: one seed, one history. */
import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import type { Schema } from "@sluice/pulsar/wire";
import { expect } from "vitest";
import { SchemaRegistry } from "../src/schema/schema-registry.ts";
import { FileSchemaStore } from "../src/storage/schema/file-schema-store.ts";
import { SimulatedDisk } from "./simulated-disk.ts";

/** Puts schemas and crashes at any call: a version that was told must mean the same schema after it. */
export async function expectVersionsAfterCrashes(seed: number): Promise<void> {
  const random = new SeededRandom(seed);
  const disk = new SimulatedDisk(random);
  const told = new Map<string, string>();
  const put = async (registry: SchemaRegistry, text: string): Promise<void> => {
    const hex = (await registry.put("t", json(text))).toString("hex");
    expect(told.get(hex) ?? text, `seed ${seed}`).toBe(text);
    told.set(hex, text);
  };
  for (let run = 0; run < 4; run++) {
    const registry = await registryOn(disk);
    disk.fault = { atCall: disk.calls + Math.floor(random.next() * 25), kind: "crash" };
    for (let count = 0; count < 4; count++) {
      const text = `${Math.floor(random.next() * 8)}`.repeat(30);
      void put(registry, text);
      if (random.next() < 0.5) await nextTurn();
    }
    for (let turn = 0; turn < 3; turn++) await nextTurn();
    disk.fault = undefined;
    disk.crash();
  }
  const last = await registryOn(disk);
  for (const [hex, text] of told) {
    const stored = await last.get("t", Buffer.from(hex, "hex"));
    expect(Buffer.from(stored?.schema.schemaData ?? []).toString(), `seed ${seed}`).toBe(text);
    expect((await last.put("t", json(text))).toString("hex")).toBe(hex);
  }
}

async function registryOn(disk: SimulatedDisk): Promise<SchemaRegistry> {
  return new SchemaRegistry(await FileSchemaStore.open(disk.mount(), "schemas"));
}

function json(text: string): Schema {
  return { name: "s", type: 2, schemaData: Buffer.from(text) };
}
