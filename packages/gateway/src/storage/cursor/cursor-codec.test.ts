import { systemTimer } from "@sluice/core/system";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rangesOf, runsOf } from "../../../test/range-lists.ts";
import { DOCUMENT_BYTES_MAX } from "../document/document-store.ts";
import { StorageError } from "../storage-error.ts";
import { PositionRanges } from "../../subscription/cursor/position-ranges.ts";
import { decodeCursor, encodeCursor } from "./cursor-codec.ts";
import type { CursorSnapshot } from "./cursor-snapshot.ts";

const number = fc.nat({ max: 2 ** 48 - 2 });

const snapshot: fc.Arbitrary<CursorSnapshot> = fc
  .record({
    ackedBefore: fc.record({ ledgerId: number, entryId: number }),
    lengths: fc.array(fc.integer({ min: 1, max: 1000 }), { maxLength: 20 }),
    ackSets: fc.array(
      fc.record({
        position: fc.record({ ledgerId: number, entryId: number }),
        ackSet: fc.array(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { maxLength: 4 }),
      }),
      { maxLength: 5 },
    ),
  })
  .map(({ ackedBefore, lengths, ackSets }) => ({
    ackedBefore,
    // Each in a ledger of its own.
    ranges: runsOf(
      lengths.map((length, index) => ({
        ledgerId: ackedBefore.ledgerId + 1 + index,
        from: length,
        to: 2 * length,
      })),
    ),
    ackSets,
  }))
  .filter(({ ranges }) => (ranges.at(-1)?.ledgerId ?? 0) < 2 ** 48);

test("a cursor is read as it was written", () => {
  fc.assert(
    fc.property(snapshot, (written) => {
      expect(decodeCursor(encodeCursor(written))).toEqual(written);
    }),
  );
});

test("a cursor that was cut, or has too much, or any other bytes, is damaged", () => {
  fc.assert(
    fc.property(snapshot, fc.nat(), fc.uint8Array({ minLength: 1 }), (written, cut, noise) => {
      const bytes = encodeCursor(written);
      const parts = [bytes.subarray(0, cut % bytes.length), Buffer.concat([bytes, noise]), noise];
      for (const part of parts) expect(() => decodeCursor(part)).toThrow(StorageError);
    }),
  );
});

/** As written by the broker before version 2: version, mark-delete 1:5, two ranges and one ack set. */
const VERSION_1 = Buffer.from(
  [
    "01",
    "000000000001 000000000005",
    "00000003 00000001",
    "000000000001 000000000007 000000000009",
    "000000000001 00000000000c 00000000000d",
    "000000000003 000000000000 000000000002",
    "000000000001 000000000005 0001 000000000000000b",
  ]
    .join("")
    .replaceAll(" ", ""),
  "hex",
);

test("a cursor of version 1 is read, and damage in it is found", () => {
  const { ranges, ...rest } = decodeCursor(VERSION_1);
  expect(rangesOf(ranges)).toEqual([
    { ledgerId: 1, from: 7, to: 9 },
    { ledgerId: 1, from: 12, to: 13 },
    { ledgerId: 3, from: 0, to: 2 },
  ]);
  expect(rest).toEqual({
    ackedBefore: { ledgerId: 1, entryId: 5 },
    ackSets: [{ position: { ledgerId: 1, entryId: 5 }, ackSet: [11n] }],
  });
  for (let length = 0; length < VERSION_1.length; length++)
    expect(() => decodeCursor(VERSION_1.subarray(0, length))).toThrow(StorageError);
  const disordered = Buffer.from(VERSION_1);
  disordered.writeUIntBE(6, 1 + 12 + 8 + 12, 6);
  expect(() => decodeCursor(disordered)).toThrow("out of order");
});

test("a cursor of a later version is refused with its version and the way out", () => {
  const later = encodeCursor({ ackedBefore: { ledgerId: 0, entryId: 0 }, ranges: [], ackSets: [] });
  later.writeUInt8(3, 0);
  expect(() => decodeCursor(later)).toThrow("has version 3; this broker reads 1 and 2: use the");
});

test("a cursor with ranges out of order is damaged", () => {
  const ackedBefore = { ledgerId: 1, entryId: 5 };
  const orders = [
    [{ ledgerId: 1, from: 5, to: 6 }],
    [{ ledgerId: 1, from: 7, to: 7 }],
    [{ ledgerId: 0, from: 7, to: 8 }],
    [
      { ledgerId: 1, from: 7, to: 9 },
      { ledgerId: 1, from: 9, to: 11 },
    ],
  ];
  for (const ranges of orders)
    expect(() =>
      decodeCursor(encodeCursor({ ackedBefore, ranges: runsOf(ranges), ackSets: [] })),
    ).toThrow("out of order");
});

test("of a cursor that is too large the lowest ranges are kept", () => {
  const ranges = Array.from({ length: 300_000 }, (_, index) => ({
    ledgerId: 0,
    from: 2 * index + 1,
    to: 2 * index + 2,
  }));
  const ackSets = Array.from({ length: 40_000 }, (_, entryId) => ({
    position: { ledgerId: 1, entryId },
    ackSet: [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n],
  }));
  const bytes = encodeCursor({
    ackedBefore: { ledgerId: 0, entryId: 0 },
    ranges: runsOf(ranges),
    ackSets,
  });
  expect(bytes.length).toBeLessThanOrEqual(DOCUMENT_BYTES_MAX);
  const kept = rangesOf(decodeCursor(bytes).ranges);
  expect(kept.length).toBeGreaterThan(100_000);
  expect(kept.at(-1)).toEqual(ranges[kept.length - 1]);
});

test("a cursor with 100,000 ranges is encoded in milliseconds", () => {
  const ranges = new PositionRanges(200_000);
  for (let count = 1; count <= 200_000; count++) ranges.add({ ledgerId: 0, entryId: 2 * count });
  const ackedBefore = { ledgerId: 0, entryId: 0 };
  const tookMs = Array.from({ length: 5 }, () => {
    const startedAtMs = systemTimer.now();
    encodeCursor({ ackedBefore, ranges: ranges.lowest(100_000), ackSets: [] });
    return systemTimer.now() - startedAtMs;
  });
  // 4 ms on a loaded machine, from the first call on; the bound has slack for busier ones.
  expect(Math.min(...tookMs)).toBeLessThan(50);
});
