import fc from "fast-check";
import { expect, test } from "vitest";
import { NANOS_PER_MS } from "../time.ts";
import { Refill } from "./refill.ts";

test("the wait for a balance is the least that brings it, for small and for huge counts", () => {
  const counts = fc.oneof(fc.integer({ min: 1, max: 1000 }), fc.integer({ min: 1, max: 1e12 }));
  fc.assert(
    fc.property(
      fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 1e9 })),
      fc.constantFrom(1, 700, 1000, 60_000, 86_400_000),
      counts,
      fc.integer({ min: -1000, max: 1000 }),
      fc.nat(),
      (rate, periodMs, missing, balance, part) => {
        const refill = new Refill(rate, periodMs, 0);
        // Some fraction of a token that the rate can leave over.
        refill.addTo(0, 0, part, 0);
        const { carried } = refill;
        const nanos = refill.nanosTo(balance + missing, balance, carried);
        const tokensAfter = (elapsed: bigint): bigint => {
          const periodNanos = BigInt(periodMs * NANOS_PER_MS);
          const divisor = gcd(BigInt(rate), periodNanos);
          const parts = (elapsed * BigInt(rate)) / divisor + BigInt(carried);
          return parts / (periodNanos / divisor);
        };
        // Above 2^53 ns (104 days) a number cannot hold every nanosecond.
        fc.pre(nanos <= Number.MAX_SAFE_INTEGER);
        expect(tokensAfter(BigInt(nanos))).toBeGreaterThanOrEqual(BigInt(missing));
        expect(tokensAfter(BigInt(nanos) - 1n)).toBeLessThan(BigInt(missing));
      },
    ),
  );
});

function gcd(a: bigint, b: bigint): bigint {
  return b === 0n ? a : gcd(b, a % b);
}
