import { expect, test } from "vitest";
import { Segment } from "./segment.ts";
import { entriesOf, layOut } from "./slab.ts";

const ALL = { countMax: Infinity, bytesMax: Infinity };

test("entries are laid out in slabs of a megabyte at most, or of one entry", () => {
  const sizes = [400_000, 400_000, 400_000, 3_000_000, 10, 20];
  const entries = sizes.map((size) => ({
    parts: [Buffer.alloc(size)],
    messageCount: 1,
    publishedAtMs: 0,
  }));
  const slabs = layOut(new Segment(0, Buffer.alloc(8)), entries);
  const laidOut = slabs.map((slab) =>
    entriesOf(slab, slab.firstEntryId, ALL).map(({ bytes }) => bytes.length),
  );
  expect(laidOut).toEqual([[400_000, 400_000], [400_000], [3_000_000], [10, 20]]);
  expect(slabs.map(({ firstEntryId }) => firstEntryId)).toEqual([0, 2, 3, 4]);
});
