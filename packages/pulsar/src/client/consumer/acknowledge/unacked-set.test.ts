import fc from "fast-check";
import { expect, test } from "vitest";
import { UnackedSet } from "./unacked-set.ts";

const members = (set: UnackedSet): number[] =>
  Array.from({ length: set.size }, (_, index) => index).filter((index) => set.has(index));

test("it equals a set of numbers for any order of acknowledgements", () => {
  const step = fc.record({ index: fc.nat(200), isCumulative: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.array(step), (size, steps) => {
      const unacked = new UnackedSet(size);
      const model = new Set(members(unacked));
      expect(model.size).toBe(size);
      for (const { index, isCumulative } of steps) {
        if (isCumulative) {
          unacked.removeThrough(index);
          for (const each of model) if (each <= index) model.delete(each);
        } else expect(unacked.remove(index)).toBe(model.delete(index));
        expect(unacked.count).toBe(model.size);
        expect(members(unacked)).toEqual([...model]);
      }
    }),
  );
});

test("it is decoded as encoded", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.array(fc.nat(200)), (size, acked) => {
      const unacked = new UnackedSet(size);
      for (const index of acked) unacked.remove(index);
      fc.pre(unacked.count > 0);
      const read = new UnackedSet(size, unacked.toAckSet());
      expect(members(read)).toEqual(members(unacked));
      expect(read.count).toBe(unacked.count);
    }),
  );
});

test("it is encoded as signed 64-bit words, as in Java", () => {
  const unacked = new UnackedSet(66);
  expect(unacked.toAckSet()).toEqual([-1n, 3n]);
  unacked.removeThrough(0);
  unacked.remove(64);
  unacked.remove(65);
  expect(unacked.toAckSet()).toEqual([-2n]);
});
