/** What every store of documents must do, whatever it is made of. */
import fc from "fast-check";
import { InvariantError } from "@sluice/core";
import { describe, expect, test } from "vitest";
import { DOCUMENT_BYTES_MAX } from "../src/storage/document/document-store.ts";
import type { DocumentStore } from "../src/storage/document/document-store.ts";
import { StorageClosedError } from "../src/storage/storage-error.ts";
import { NAME_BYTES_MAX } from "../src/storage/file/name-flaw.ts";

/** The documents of a store as texts. */
export async function textsOf(documents: DocumentStore): Promise<Record<string, string>> {
  const loaded = [...(await documents.load()).documents];
  return Object.fromEntries(loaded.map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
}

export function describeDocumentStore(what: string, openStore: () => DocumentStore): void {
  describe(what, () => {
    test("gives back what was saved last", async () => {
      const documents = openStore();
      expect(await textsOf(documents)).toEqual({});
      await documents.save("a", Buffer.from("1"));
      await documents.save("b", Buffer.from(""));
      await documents.save("a", Buffer.from("2"));
      expect(await textsOf(documents)).toEqual({ a: "2", b: "" });
    });

    test("of saves at once the last one counts, and all of them resolve", async () => {
      const documents = openStore();
      await documents.load();
      const texts = Array.from({ length: 50 }, (_, number) => `${number}`);
      await Promise.all(texts.map((text) => documents.save("name", Buffer.from(text))));
      expect(await textsOf(documents)).toEqual({ name: "49" });
    });

    test("forgets what is removed, and what was never there", async () => {
      const documents = openStore();
      await documents.load();
      await documents.save("a", Buffer.from("1"));
      await Promise.all([
        documents.save("b", Buffer.from("1")),
        documents.remove("a"),
        documents.remove("never"),
      ]);
      expect(await textsOf(documents)).toEqual({ b: "1" });
    });

    test("any names are kept apart", async () => {
      const unit = fc.oneof(
        fc.constantFrom("/", "..", "\0", "%2F", "A", "a", " ", "\\", "CON"),
        fc.string({ unit: "grapheme", maxLength: 5 }),
      );
      const name = fc.array(unit, { minLength: 1, maxLength: 80 }).map((units) => units.join(""));
      const names = fc.uniqueArray(
        name.filter((text) => text.length > 0 && Buffer.byteLength(text) <= NAME_BYTES_MAX),
        { minLength: 2, maxLength: 5 },
      );
      await fc.assert(
        fc.asyncProperty(names, async (all) => {
          const documents = openStore();
          await documents.load();
          for (const each of all) await documents.save(each, Buffer.from(each));
          const { documents: loaded } = await documents.load();
          expect([...loaded.keys()].toSorted()).toEqual(all.toSorted());
          for (const [key, bytes] of loaded) expect(Buffer.from(bytes).toString()).toBe(key);
        }),
        { numRuns: 25 },
      );
    });

    test("refuses a name or a document that is too long, and a name that is no text", async () => {
      const documents = openStore();
      await documents.load();
      const empty = Buffer.alloc(0);
      await expect(documents.save("", empty)).rejects.toThrow(InvariantError);
      await expect(documents.save("é".repeat(2049), empty)).rejects.toThrow(InvariantError);
      await expect(documents.save("\uD800", empty)).rejects.toThrow(InvariantError);
      const large = Buffer.alloc(DOCUMENT_BYTES_MAX + 1);
      await expect(documents.save("name", large)).rejects.toThrow(InvariantError);
      expect(await textsOf(documents)).toEqual({});
    });

    test("close waits for saves that have begun; later calls reject", async () => {
      const documents = openStore();
      await documents.load();
      let isSaved = false;
      const saving = documents.save("a", Buffer.from("1")).then(() => (isSaved = true));
      await documents.close();
      expect(isSaved).toBe(true);
      await saving;
      await expect(documents.save("a", Buffer.from("2"))).rejects.toThrow(StorageClosedError);
      await expect(documents.load()).rejects.toThrow(StorageClosedError);
    });
  });
}
