import fc from "fast-check";
import { expect, test } from "vitest";
import { demandOf, fairShare } from "./fair-share.ts";
import { equalShare, PARTS } from "./parts.ts";

const sharesOf = (wanted: readonly number[]): number[] => {
  const demands = wanted.map((each) => demandOf(each, wanted.length));
  const total = {
    lent: demands.reduce((sum, { lent }) => sum + lent, 0),
    extra: demands.reduce((sum, { extra }) => sum + extra, 0),
  };
  return wanted.map((each) => fairShare(each, wanted.length, total));
};

test("one busy member of four gets what the others do not want", () => {
  const idle = PARTS / 1000;
  expect(sharesOf([PARTS, idle, idle, idle])).toEqual([PARTS - 3 * idle, idle, idle, idle]);
});

test("if no member wants more than its equal share, every member keeps that", () => {
  expect(sharesOf([0, 0.1 * PARTS, 0.2 * PARTS, 0])).toEqual([0.25, 0.25, 0.25, 0.25].map(parts));
});

test("fair shares are never below what is wanted up to the equal share, and add up to the ceiling", () => {
  const wants = fc.array(fc.integer({ min: 0, max: PARTS }), { minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(wants, (wanted) => {
      const shares = sharesOf(wanted);
      const sum = shares.reduce((total, share) => total + share, 0);
      expect(sum).toBeLessThanOrEqual(PARTS);
      expect(sum).toBeGreaterThan(PARTS - 3 * wanted.length);
      for (const [i, share] of shares.entries())
        expect(share).toBeGreaterThanOrEqual(Math.min(wanted[i] ?? 0, equalShare(wanted.length)));
    }),
  );
});

function parts(part: number): number {
  return part * PARTS;
}
