/** What every store of cursors must do, whatever it is made of. */
import fc from "fast-check";
import { InvariantError } from "@sluice/core";
import { describe, expect, test } from "vitest";
import { CURSOR_BYTES_MAX } from "../src/storage/cursor/cursor-store.ts";
import type { CursorStore } from "../src/storage/cursor/cursor-store.ts";
import { StorageClosedError } from "../src/storage/storage-error.ts";
import { NAME_BYTES_MAX } from "../src/storage/store/stored-name.ts";

/** The cursors of a store as texts. */
export async function textsOf(cursors: CursorStore): Promise<Record<string, string>> {
  const loaded = [...(await cursors.load())];
  return Object.fromEntries(loaded.map(([name, bytes]) => [name, Buffer.from(bytes).toString()]));
}

export function describeCursorStore(what: string, openStore: () => CursorStore): void {
  describe(what, () => {
    test("gives back what was saved last", async () => {
      const cursors = openStore();
      expect(await textsOf(cursors)).toEqual({});
      await cursors.save("a", Buffer.from("1"));
      await cursors.save("b", Buffer.from(""));
      await cursors.save("a", Buffer.from("2"));
      expect(await textsOf(cursors)).toEqual({ a: "2", b: "" });
    });

    test("of saves at once the last one counts, and all of them resolve", async () => {
      const cursors = openStore();
      await cursors.load();
      const texts = Array.from({ length: 50 }, (_, number) => `${number}`);
      await Promise.all(texts.map((text) => cursors.save("name", Buffer.from(text))));
      expect(await textsOf(cursors)).toEqual({ name: "49" });
    });

    test("forgets what is removed, and what was never there", async () => {
      const cursors = openStore();
      await cursors.load();
      await cursors.save("a", Buffer.from("1"));
      await Promise.all([
        cursors.save("b", Buffer.from("1")),
        cursors.remove("a"),
        cursors.remove("never"),
      ]);
      expect(await textsOf(cursors)).toEqual({ b: "1" });
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
          const cursors = openStore();
          await cursors.load();
          for (const each of all) await cursors.save(each, Buffer.from(each));
          const loaded = await cursors.load();
          expect([...loaded.keys()].toSorted()).toEqual(all.toSorted());
          for (const [key, bytes] of loaded) expect(Buffer.from(bytes).toString()).toBe(key);
        }),
        { numRuns: 25 },
      );
    });

    test("refuses a name or a cursor that is too long, and a name that is no text", async () => {
      const cursors = openStore();
      await cursors.load();
      const empty = Buffer.alloc(0);
      await expect(cursors.save("", empty)).rejects.toThrow(InvariantError);
      await expect(cursors.save("é".repeat(2049), empty)).rejects.toThrow(InvariantError);
      await expect(cursors.save("\uD800", empty)).rejects.toThrow(InvariantError);
      const large = Buffer.alloc(CURSOR_BYTES_MAX + 1);
      await expect(cursors.save("name", large)).rejects.toThrow(InvariantError);
      expect(await textsOf(cursors)).toEqual({});
    });

    test("close waits for saves that have begun; later calls reject", async () => {
      const cursors = openStore();
      await cursors.load();
      let isSaved = false;
      const saving = cursors.save("a", Buffer.from("1")).then(() => (isSaved = true));
      await cursors.close();
      expect(isSaved).toBe(true);
      await saving;
      await expect(cursors.save("a", Buffer.from("2"))).rejects.toThrow(StorageClosedError);
      await expect(cursors.load()).rejects.toThrow(StorageClosedError);
    });
  });
}
