import { SeededRandom } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import fc from "fast-check";
import { expect, test } from "vitest";
import { rangesOf } from "../../../test/range-lists.ts";
import { comparePositions, formatPosition } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import { PositionRanges } from "./position-ranges.ts";

const position = fc.record({ ledgerId: fc.nat(2), entryId: fc.nat(12) });
const step = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant("add" as const), position }), weight: 5 },
  { arbitrary: fc.record({ kind: fc.constant("removeBefore" as const), position }), weight: 1 },
);

test("the ranges hold exactly what was added and not removed, in as few ranges as can be", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: "max" }), (steps) => {
      const ranges = new PositionRanges(1000);
      let model: Position[] = [];
      for (const { kind, position: at } of steps) {
        const isNew = !model.some((other) => comparePositions(other, at) === 0);
        if (kind === "add") {
          expect(ranges.add(at)).toBe(isNew);
          if (isNew) model.push(at);
        } else {
          ranges.removeBefore(at);
          model = model.filter((other) => comparePositions(other, at) >= 0);
        }
      }
      const sorted = model.toSorted(comparePositions);
      const listed = listedOf(ranges);
      expect(listed).toEqual(sorted);
      expect(ranges.entryCount).toBe(sorted.length);
      const keys = new Set(sorted.map(formatPosition));
      const starts = sorted.filter(
        ({ ledgerId, entryId }) => !keys.has(formatPosition({ ledgerId, entryId: entryId - 1 })),
      );
      expect(ranges.length).toBe(starts.length);
      for (let ledgerId = 0; ledgerId <= 2; ledgerId++)
        for (let entryId = 0; entryId <= 12; entryId++)
          expect(ranges.has({ ledgerId, entryId })).toBe(
            keys.has(formatPosition({ ledgerId, entryId })),
          );
    }),
  );
});

function listedOf(ranges: PositionRanges): Position[] {
  return rangesOf(ranges.lowest(Infinity)).flatMap(({ ledgerId, from, to }) =>
    Array.from({ length: to - from }, (_, index) => ({ ledgerId, entryId: from + index })),
  );
}

/** Positions over many chunks, in any order, each ledger with its own. */
const wide = fc.record({ ledgerId: fc.nat(3), entryId: fc.nat(6_000) });

test("the ranges stay right while chunks are split and joined", () => {
  fc.assert(
    fc.property(fc.integer(), wide, (seed, removed) => {
      const random = new SeededRandom(seed);
      const ranges = new PositionRanges(100_000);
      const keys = new Set<number>();
      let mistakes = 0;
      const drawn = (): Position => ({
        ledgerId: Math.floor(random.next() * 3),
        entryId: Math.floor(random.next() * 6_000),
      });
      // First every other entry, which makes many ranges; then any, which joins them again.
      for (let count = 0; count < 16_000; count++) {
        const { ledgerId, entryId } = drawn();
        const at = { ledgerId, entryId: count < 8_000 ? entryId & ~1 : entryId };
        const key = at.ledgerId * 10_000 + at.entryId;
        if (ranges.add(at) === keys.has(key)) mistakes++;
        keys.add(key);
        if (count === 12_000) {
          ranges.removeBefore(removed);
          for (const each of keys)
            if (each < removed.ledgerId * 10_000 + removed.entryId) keys.delete(each);
        }
      }
      const sorted = [...keys].toSorted((a, b) => a - b);
      expect(listedOf(ranges).map((at) => at.ledgerId * 10_000 + at.entryId)).toEqual(sorted);
      expect(ranges.entryCount).toBe(keys.size);
      expect(rangesOf(ranges.lowest(7))).toEqual(rangesOf(ranges.lowest(Infinity)).slice(0, 7));
      for (const key of keys)
        if (!ranges.has({ ledgerId: Math.floor(key / 10_000), entryId: key % 10_000 })) mistakes++;
      expect(mistakes).toBe(0);
      while (ranges.length > 0) ranges.shift();
      expect(ranges.entryCount).toBe(0);
    }),
    { numRuns: 15 },
  );
});

test("20,000 acknowledgements among 200,000 ranges take milliseconds", () => {
  const ranges = new PositionRanges(200_000);
  for (let count = 0; count < 180_000; count++) ranges.add({ ledgerId: 0, entryId: count * 4 });
  const tookMs = Array.from({ length: 5 }, (_, round) => {
    const startedAtMs = systemTimer.now();
    for (let count = 0; count < 20_000; count++)
      ranges.add({ ledgerId: 0, entryId: ((count * 7_919) % 180_000) * 4 + 2 });
    const ms = systemTimer.now() - startedAtMs;
    if (round < 4) {
      ranges.clear();
      for (let count = 0; count < 180_000; count++) ranges.add({ ledgerId: 0, entryId: count * 4 });
    }
    return ms;
  });
  expect(ranges.length).toBe(200_000);
  // 9 to 22 ms on a loaded machine; a flat array needed seconds.
  expect(Math.min(...tookMs)).toBeLessThan(100);
});

test("a position that would need one range too many is not taken", () => {
  const ranges = new PositionRanges(2);
  expect(ranges.add({ ledgerId: 0, entryId: 0 })).toBe(true);
  expect(ranges.add({ ledgerId: 0, entryId: 4 })).toBe(true);
  expect(ranges.add({ ledgerId: 0, entryId: 2 })).toBe(false);
  expect(ranges.has({ ledgerId: 0, entryId: 2 })).toBe(false);
  expect(ranges.add({ ledgerId: 0, entryId: 1 })).toBe(true);
  expect(ranges.add({ ledgerId: 0, entryId: 3 })).toBe(true);
  // The last one that was missing joins two ranges to one, which makes room for another.
  expect(ranges.add({ ledgerId: 0, entryId: 2 })).toBe(true);
  expect(ranges.add({ ledgerId: 1, entryId: 0 })).toBe(true);
  expect(ranges.length).toBe(2);
});
