import fc from "fast-check";
import { expect, test } from "vitest";
import { EXACT_MAX, Quantiles } from "./quantiles.ts";

const PARTS = [0, 0.5, 0.99];

function exact(valuesMs: readonly number[]): (number | undefined)[] {
  const sorted = valuesMs.toSorted((a, b) => a - b);
  return PARTS.map((part) => sorted[Math.floor(part * sorted.length)]);
}

function gathered(valuesMs: readonly number[]): Quantiles {
  const roundTrips = new Quantiles();
  for (const valueMs of valuesMs) roundTrips.add(valueMs);
  return roundTrips;
}

test("up to a million values quantiles are exact", () => {
  const values = fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 100 });
  fc.assert(
    fc.property(values, (valuesMs) => {
      expect(gathered(valuesMs).quantiles(PARTS)).toEqual(exact(valuesMs));
    }),
  );
});

test("beyond a million they are at most a thousandth too long, and never too short", () => {
  const more = EXACT_MAX + 1000;
  const valuesMs = Array.from({ length: more }, (_, i) => 3 * (i / more) ** 5 * 1000);
  const roundTrips = gathered(valuesMs);
  expect(roundTrips.count).toBe(more);
  for (const [i, foundMs] of roundTrips.quantiles(PARTS).entries()) {
    const wantedMs = exact(valuesMs)[i] as number;
    expect(foundMs).toBeGreaterThanOrEqual(wantedMs);
    expect(foundMs).toBeLessThanOrEqual(wantedMs * 1.00101);
  }
});

test("beyond a million, equal values are still exact", () => {
  const valuesMs = Array.from({ length: EXACT_MAX + 1 }, () => 20.1);
  expect(gathered(valuesMs).quantiles(PARTS)).toEqual([20.1, 20.1, 20.1]);
});
