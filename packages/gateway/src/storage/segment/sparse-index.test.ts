import fc from "fast-check";
import { expect, test } from "vitest";
import { SparseIndex } from "./sparse-index.ts";

interface Noted {
  readonly sizeBytes: number;
  readonly publishedAtMs: number;
}

const entries = fc.array(
  fc.record({ sizeBytes: fc.integer({ min: 40, max: 40_000 }), publishedAtMs: fc.nat(1000) }),
  { minLength: 1, maxLength: 60 },
);

function indexOf(noted: readonly Noted[]): { index: SparseIndex; offsets: number[] } {
  const index = new SparseIndex();
  const offsets: number[] = [];
  let at = 28;
  for (const { sizeBytes, publishedAtMs } of noted) {
    index.add(at, publishedAtMs);
    offsets.push(at);
    at += sizeBytes;
  }
  return { index, offsets };
}

test("the block of an entry begins at an entry, at most 16 KiB before it", () => {
  fc.assert(
    fc.property(entries, (noted) => {
      const { index, offsets } = indexOf(noted);
      expect(index.entryCount).toBe(noted.length);
      for (const [entryId, offsetBytes] of offsets.entries()) {
        for (const block of [index.blockOf(entryId), index.blockAt(offsetBytes)]) {
          expect(block?.offsetBytes).toBe(offsets[block?.entryId ?? -1]);
          expect(block?.entryId).toBeLessThanOrEqual(entryId);
          expect(offsetBytes - (block?.offsetBytes ?? 0)).toBeLessThan(16 * 1024);
        }
      }
    }),
  );
});

test("the block of a time is the one of the first entry published then or later", () => {
  fc.assert(
    fc.property(entries, fc.nat(1000), (noted, atMs) => {
      const { index } = indexOf(noted);
      const first = noted.findIndex(({ publishedAtMs }) => publishedAtMs >= atMs);
      expect(index.blockAtTime(atMs)).toEqual(first < 0 ? undefined : index.blockOf(first));
    }),
  );
});

test("an index that was stored is the same", () => {
  fc.assert(
    fc.property(entries, (noted) => {
      const { index } = indexOf(noted);
      const stored = SparseIndex.decode(index.encode());
      expect(stored.entryCount).toBe(index.entryCount);
      expect(stored.newestAtMs).toBe(index.newestAtMs);
      for (const entryId of noted.keys())
        expect(stored.blockOf(entryId)).toEqual(index.blockOf(entryId));
    }),
  );
});

test("an index of nothing has no block", () => {
  const index = SparseIndex.decode(new SparseIndex().encode());
  expect(index.blockOf(0)).toBeUndefined();
  expect(index.blockAtTime(-Infinity)).toBeUndefined();
  expect(index.newestAtMs).toBe(-Infinity);
});
