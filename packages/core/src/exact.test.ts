import fc from "fast-check";
import { expect, test } from "vitest";
import { gcd, mulDivCeil, mulDivFloor } from "./exact.ts";

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

test("a product divided is rounded down and up as unbounded integers would be", () => {
  fc.assert(
    fc.property(whole, fc.oneof(whole, fc.constant(1)), positive, (a, b, c) => {
      const product = BigInt(a) * BigInt(b);
      expect(mulDivFloor(a, b, c)).toEqual(Number(floorOf(product, BigInt(c))));
      // Added to 0, because no integer tells -0 from 0.
      expect(mulDivCeil(a, b, c) + 0).toEqual(Number(-floorOf(-product, BigInt(c))));
    }),
    { numRuns: 2000 },
  );
});

test("the greatest common divisor divides both and leaves nothing in common", () => {
  fc.assert(
    fc.property(positive, positive, (a, b) => {
      const divisor = gcd(a, b);
      expect([a % divisor, b % divisor, gcd(a / divisor, b / divisor)]).toEqual([0, 0, 1]);
    }),
  );
});
