import fc from "fast-check";
import { expect, test } from "vitest";
import { AcknowledgedPrefix } from "./acknowledged-prefix.ts";

test("the position is behind the last message up to which all are acknowledged, in any order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 30 }),
      fc.array(fc.nat(), { minLength: 30, maxLength: 30 }),
      (lengths, chances) => {
        const prefix = new AcknowledgedPrefix(100);
        let end = 100;
        const places = lengths.map((length) => prefix.add((end += length)));
        const order = places.map((place, index) => ({ place, at: chances[index] ?? 0 }));
        for (const { place } of order.toSorted((a, b) => a.at - b.at)) {
          prefix.acknowledge(place);
          const open = places.findIndex(({ isAcknowledged }) => !isAcknowledged);
          const before = open === 0 ? 100 : places.at(open === -1 ? -1 : open - 1)?.end;
          expect(prefix.position).toBe(before);
          expect(prefix.length).toBe(open === -1 ? 0 : places.length - open);
        }
      },
    ),
  );
});

test("a skipped part waits for the messages before it", () => {
  const prefix = new AcknowledgedPrefix(0);
  const first = prefix.add(10);
  prefix.skip(20);
  expect(prefix.position).toBe(0);
  prefix.acknowledge(first);
  expect(prefix.position).toBe(20);
});
