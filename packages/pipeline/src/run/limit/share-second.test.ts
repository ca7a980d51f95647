import fc from "fast-check";
import { expect, test } from "vitest";
import { ShareSecond } from "./share-second.ts";

test("members whose shares move at any time never have more than the ceiling of a second together", () => {
  const moves = fc.array(
    fc.record({
      afterMs: fc.integer({ min: 1, max: 700 }),
      first: fc.integer({ max: 100, min: 0 }),
    }),
    { minLength: 1, maxLength: 40 },
  );
  fc.assert(
    fc.property(moves, (all) => {
      const members = [new ShareSecond(), new ShareSecond()];
      let nowMs = 0;
      for (const { afterMs, first } of all) {
        nowMs += afterMs;
        const sums = members.map((member, index) =>
          member.look(index === 0 ? first : 100 - first, nowMs),
        );
        expect(sums.reduce((sum, each) => sum + each, 0)).toBeLessThanOrEqual(100 + 1e-9);
      }
    }),
  );
});

test("a share that stays brings its tokens of a second, and a new one brings them in a second", () => {
  const member = new ShareSecond();
  expect(member.look(100, 5_000)).toBe(0);
  expect(member.look(100, 5_500)).toBeCloseTo(50);
  expect(member.look(100, 8_000)).toBeCloseTo(100);
  expect(member.look(200, 8_000)).toBeCloseTo(100);
  expect(member.look(200, 8_250)).toBeCloseTo(125);
  expect(member.look(0, 8_250)).toBeCloseTo(125);
  expect(member.look(0, 9_250)).toBe(0);
});
