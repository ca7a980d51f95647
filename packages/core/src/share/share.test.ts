import fc from "fast-check";
import { expect, test } from "vitest";
import { shareOf } from "./share.ts";
import type { Division } from "./share.ts";

function sharesOf(tokens: number, poolSize: number, epoch: number, division: Division): number[] {
  return Array.from({ length: poolSize }, (_, rank) =>
    shareOf(tokens, { poolSize, rank }, epoch, division),
  );
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

const tokens = fc.oneof(fc.nat(50), fc.nat(1_000_000_000));
const poolSize = fc.integer({ min: 1, max: 30 });
const epoch = fc.integer({ min: -100, max: 2_000_000_000 });

test("shares that rotate add up to the whole and differ by at most one", () => {
  fc.assert(
    fc.property(tokens, poolSize, epoch, (whole, members, at) => {
      const shares = sharesOf(whole, members, at, "rotate");
      expect(sum(shares)).toBe(whole);
      expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
    }),
  );
});

test("over as many epochs as there are members, shares that rotate give each the whole once", () => {
  fc.assert(
    fc.property(tokens, poolSize, epoch, (whole, members, from) => {
      const epochs = Array.from({ length: members }, (_, i) =>
        sharesOf(whole, members, from + i, "rotate"),
      );
      for (let rank = 0; rank < members; rank++) {
        expect(sum(epochs.map((shares) => shares[rank] ?? 0))).toBe(whole);
      }
    }),
  );
});

test("shares that leave the remainder over are equal and lose less than one token each", () => {
  fc.assert(
    fc.property(tokens, poolSize, epoch, (whole, members, at) => {
      const shares = sharesOf(whole, members, at, "floor");
      const left = whole - sum(shares);
      expect(new Set(shares).size).toBe(1);
      expect(left >= 0 && left < members).toBe(true);
    }),
  );
});

test("one token for three members goes round", () => {
  const rounds = [0, 1, 2, 3].map((at) => sharesOf(1, 3, at, "rotate").join(""));
  expect(rounds).toEqual(["100", "001", "010", "100"]);
});
