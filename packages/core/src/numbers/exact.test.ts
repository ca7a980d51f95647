import fc from "fast-check";
import { expect, test } from "vitest";
import { gcd, mulDivFloor } from "./exact.ts";

function floorOf(numerator: bigint, divisor: bigint): bigint {
  const quotient = numerator / divisor;
  return numerator < 0n && quotient * divisor !== numerator ? quotient - 1n : quotient;
}

/** Whole numbers of every size, with those next to 2^53 more often than chance would have it. */
const whole = fc.oneof(
  fc.maxSafeInteger(),
  fc.integer({ min: -1000, max: 1000 }),
  fc.nat(1000).map((below) => Number.MAX_SAFE_INTEGER - below),
  fc.nat(1000).map((above) => Number.MIN_SAFE_INTEGER + above),
);
const positive = whole.map((value) => Math.max(1, Math.abs(value)));

test("a product divided is rounded down as unbounded integers would be", () => {
  fc.assert(
    fc.property(whole, fc.oneof(whole, fc.constant(1)), positive, (a, b, c) => {
      const product = BigInt(a) * BigInt(b);
      // Added to 0, because no integer tells -0 from 0.
      expect(mulDivFloor(a, b, c) + 0).toEqual(Number(floorOf(product, BigInt(c))));
    }),
    { numRuns: 2000 },
  );
});

test("the greatest common divisor divides both and is a multiple of every other that does", () => {
  const small = fc.integer({ min: 1, max: 100_000 });
  fc.assert(
    fc.property(small, small, small, (a, b, common) => {
      const divisor = gcd(a * common, b * common);
      expect([a * common, b * common].map((value) => value % divisor)).toEqual([0, 0]);
      expect(divisor % common).toBe(0);
    }),
  );
});
