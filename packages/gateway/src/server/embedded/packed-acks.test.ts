import fc from "fast-check";
import { expect, test } from "vitest";
import { ackOf, PackedAcks } from "./packed-acks.ts";

const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const id = fc.record({
  ledgerId: fc.oneof(fc.bigInt({ min: 0n, max: 5n }), word),
  entryId: fc.oneof(fc.bigInt({ min: 0n, max: 5n }), word),
  ackSet: fc.option(fc.array(word, { maxLength: 3 }), { nil: undefined }),
});

test("ids that wait are the same when their turn comes", () => {
  fc.assert(
    fc.property(fc.array(id), fc.nat(20), fc.nat(20), (ids, start, count) => {
      const given = [...ids];
      const packed = PackedAcks.taking(given);
      expect(given).toEqual([]);
      expect(packed).toHaveLength(ids.length);
      expect(packed.slice(start, start + count)).toEqual(
        ids.slice(start, start + count).map(ackOf),
      );
    }),
  );
});
