/** What every store of schemas must do, whatever it is made of. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { SchemaStore } from "../src/storage/schema/schema-store.ts";
import { StorageClosedError } from "../src/storage/storage-error.ts";

const TOPIC = "persistent://public/default/orders";

export function describeSchemaStore(what: string, openStore: () => Promise<SchemaStore>): void {
  describe(what, () => {
    let store: SchemaStore;

    beforeEach(async () => {
      store = await openStore();
    });

    afterEach(() => store.close());

    const textsOf = async (topic: string): Promise<Record<string, string>> => {
      const { schemas } = await store.load(topic);
      const texts = [...schemas].map(([version, bytes]) => [
        version,
        Buffer.from(bytes).toString(),
      ]);
      return Object.fromEntries(texts) as Record<string, string>;
    };

    test("gives back each version of each topic", async () => {
      expect(await textsOf(TOPIC)).toEqual({});
      expect(store.has(TOPIC)).toBe(false);
      await store.save(TOPIC, 0, Buffer.from("a"));
      await store.save(TOPIC, 1, Buffer.from("b"));
      await store.save("other", 0, Buffer.from("c"));
      expect(await textsOf(TOPIC)).toEqual({ 0: "a", 1: "b" });
      expect(await textsOf("other")).toEqual({ 0: "c" });
      expect(store.has(TOPIC)).toBe(true);
      expect(store.topicCount).toBe(2);
    });

    test("removes all versions of one topic", async () => {
      await store.save(TOPIC, 0, Buffer.from("a"));
      await store.save(TOPIC, 1, Buffer.from("b"));
      await store.save("other", 0, Buffer.from("c"));
      await store.remove(TOPIC);
      await store.remove("never there");
      expect(await textsOf(TOPIC)).toEqual({});
      expect(store.has(TOPIC)).toBe(false);
      expect(await textsOf("other")).toEqual({ 0: "c" });
      await store.save(TOPIC, 0, Buffer.from("d"));
      expect(await textsOf(TOPIC)).toEqual({ 0: "d" });
    });

    test("calls after close reject", async () => {
      await store.close();
      await expect(store.load(TOPIC)).rejects.toThrow(StorageClosedError);
      await expect(store.save(TOPIC, 0, Buffer.alloc(0))).rejects.toThrow(StorageClosedError);
    });
  });
}
