import fc from "fast-check";
import { expect, test } from "vitest";
import { comparePositions, formatPosition } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
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
      const listed = ranges
        .lowest(1000)
        .flatMap(({ ledgerId, from, to }) =>
          Array.from({ length: to - from }, (_, index) => ({ ledgerId, entryId: from + index })),
        );
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
