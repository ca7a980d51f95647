import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fairParts, partsFor } from "./demand.ts";
import type { Claim } from "./demand.ts";
import { PARTS } from "./pool-store.ts";

const amount = fc.oneof(fc.nat(20), fc.nat(PARTS));
const claim: fc.Arbitrary<Claim> = fc.record({
  entitled: amount,
  promised: amount,
  wanted: fc.oneof(amount, fc.nat(2 * PARTS)),
});
const claims = fc.array(claim, { maxLength: 20 });

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

describe("what is fair", () => {
  test.each<[string, [entitled: number, wanted: number][], number[]]>([
    [
      "nobody wants anything",
      [
        [500, 0],
        [500, 0],
      ],
      [0, 0],
    ],
    [
      "everybody wants its own",
      [
        [500, 500],
        [500, 900],
      ],
      [500, 500],
    ],
    [
      "one lends, one borrows",
      [
        [500, 100],
        [500, 1000],
      ],
      [100, 900],
    ],
    [
      "what is lent goes evenly",
      [
        [300, 0],
        [300, 900],
        [300, 900],
      ],
      [0, 450, 450],
    ],
    [
      "nobody gets more than it wants",
      [
        [300, 0],
        [300, 350],
        [300, 900],
      ],
      [0, 350, 550],
    ],
    [
      "those without a lease get nothing",
      [
        [500, 0],
        [500, 600],
        [0, 900],
      ],
      [0, 600, 0],
    ],
    [
      "what does not divide is left over",
      [
        [100, 0],
        [100, 900],
        [100, 900],
        [100, 900],
      ],
      [0, 133, 133, 133],
    ],
  ])("%s", (_name, asked, expected) => {
    const said = asked.map(([entitled, wanted]) => ({ entitled, wanted, promised: 0 }));
    expect(fairParts(said)).toEqual(expected);
  });

  test("is never more than all are entitled to together", () => {
    fc.assert(
      fc.property(claims, (said) => {
        expect(sum(fairParts(said))).toBeLessThanOrEqual(sum(said.map((each) => each.entitled)));
      }),
    );
  });

  test("is for each what it wants of its own, at least, and never more than it wants", () => {
    fc.assert(
      fc.property(claims, (said) => {
        for (const [index, parts] of fairParts(said).entries()) {
          const { entitled = 0, wanted = 0 } = said[index] ?? {};
          expect(parts).toBeGreaterThanOrEqual(Math.min(wanted, entitled));
          expect(parts).toBeLessThanOrEqual(wanted);
        }
      }),
    );
  });

  test("leaves less than a part per member while anybody wants more", () => {
    fc.assert(
      fc.property(claims, (said) => {
        const parts = fairParts(said);
        const left = sum(said.map((each) => each.entitled)) - sum(parts);
        const wantsMore = said.some(
          ({ entitled, wanted }, index) => entitled > 0 && wanted > (parts[index] ?? 0),
        );
        if (wantsMore) expect(left).toBeLessThan(said.length);
      }),
    );
  });

  test("gives nobody more of the rest than somebody who still wants", () => {
    fc.assert(
      fc.property(claims, (said) => {
        const parts = fairParts(said);
        const lent = said.map(({ entitled }, index) => Math.max(0, (parts[index] ?? 0) - entitled));
        for (const [index, { entitled, wanted }] of said.entries())
          if (entitled > 0 && wanted > (parts[index] ?? 0))
            expect(lent[index]).toBe(Math.max(...lent));
      }),
    );
  });

  test("does not depend on the order of the claims", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(claim, fc.nat()), { maxLength: 20 }), (keyed) => {
        const said = keyed.map(([each]) => each);
        const shuffled = keyed
          .map(([each, key], index) => ({ each, key, index }))
          .toSorted((a, b) => a.key - b.key);
        const parts = fairParts(said);
        const moved = fairParts(shuffled.map(({ each }) => each));
        expect(moved).toEqual(shuffled.map(({ index }) => parts[index]));
      }),
    );
  });
});

describe("what a member is told", () => {
  const one = fc
    .array(claim, { minLength: 1, maxLength: 20 })
    .chain((said) => fc.tuple(fc.constant(said), fc.nat(said.length - 1)));

  test("never makes the promises more than the entitlement, or more than they were", () => {
    fc.assert(
      fc.property(one, ([said, index]) => {
        const before = sum(said.map((each) => each.promised));
        const told = partsFor(said, index);
        const after = before + Math.max(0, told - (said[index]?.promised ?? 0));
        const entitled = sum(said.map((each) => each.entitled));
        expect(after).toBeLessThanOrEqual(Math.max(before, Math.min(PARTS, entitled)));
      }),
    );
  });

  test("is what is fair once all others have followed", () => {
    fc.assert(
      fc.property(one, ([said, index]) => {
        const claimed = said.map(({ entitled, wanted }) => ({
          entitled: Math.floor(entitled / said.length),
          promised: 0,
          wanted,
        }));
        const fair = fairParts(claimed);
        const followed = claimed.map((each, place) =>
          place === index ? each : { ...each, promised: fair[place] ?? 0 },
        );
        expect(partsFor(followed, index)).toBe(fair[index]);
      }),
    );
  });

  /**
   * Members as they are: each holds what it last heard, some replies are lost, and a lost reply is
   * not acted on later. Whatever order they sync in, together they never hold more than there is.
   */
  test("keeps what all hold within the ceiling, whatever is lost", () => {
    const step = fc.record({
      index: fc.nat(4),
      wanted: amount,
      isLost: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const size = 5;
        const entitled = PARTS / size;
        const held = Array.from({ length: size }, () => entitled);
        const stored: Claim[] = held.map((promised) => ({ entitled, promised, wanted: 0 }));
        for (const { index, wanted, isLost } of steps) {
          stored[index] = { entitled, promised: held[index] ?? 0, wanted };
          const told = partsFor(stored, index);
          stored[index] = { entitled, promised: Math.max(held[index] ?? 0, told), wanted };
          if (!isLost) held[index] = told;
          expect(sum(held)).toBeLessThanOrEqual(PARTS);
        }
      }),
    );
  });
});
