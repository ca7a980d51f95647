import fc from "fast-check";
import { expect, test } from "vitest";
import { EpochAccount } from "./epoch-account.ts";
import { Grant } from "./grant.ts";
import type { TakeBack } from "./grant.ts";
import type { Division } from "./share.ts";

const ALONE = { poolSize: 1, rank: 0 };

test("a member gets what it asks for while its share lasts, then the rest, then nothing", () => {
  const account = new EpochAccount({
    ceiling: 10,
    seat: { poolSize: 2, rank: 0 },
    epoch: 0,
    division: "rotate",
  });
  const grants = [3, 3, 1].map((ask) => account.acquire(ask));
  expect(grants.map(({ count, reason }) => [count, reason])).toEqual([
    [3, undefined],
    [2, "fleet-share"],
    [0, "fleet-share"],
  ]);
});

test("what goes back can be acquired again and counts as unused", () => {
  const account = new EpochAccount({ ceiling: 10, seat: ALONE, epoch: 0, division: "rotate" });
  const grant = account.acquire(8);
  expect(account.usage).toEqual({ used: 8, unused: 2 });
  expect(grant.deposit(5)).toBe(5);
  expect(account.usage).toEqual({ used: 3, unused: 7 });
  expect(account.acquire(9).count).toBe(7);
});

test("no more goes back than was granted, at once or in parts", () => {
  const account = new EpochAccount({ ceiling: 10, seat: ALONE, epoch: 0, division: "rotate" });
  const grant = account.acquire(6);
  expect([grant.deposit(4), grant.deposit(500), grant.deposit(1)]).toEqual([4, 2, 0]);
  expect(account.left).toBe(10);
});

test("dropped tokens come back as unused ones do, and the issuer is told which they are", () => {
  const returned: [number, string][] = [];
  const onReturn: TakeBack = (count, kind) => returned.push([count, kind]);
  const account = new EpochAccount({
    ceiling: 10,
    seat: ALONE,
    epoch: 0,
    division: "rotate",
    onReturn,
  });
  const grant = account.acquire(8);
  expect(grant.deposit({ unused: 2, dropped: 3 })).toBe(5);
  expect(account.usage).toEqual({ used: 3, unused: 7 });
  expect([grant.deposit({ dropped: 1 }), grant.deposit(1), grant.deposit({})]).toEqual([1, 1, 0]);
  expect(returned).toEqual([
    [2, "unused"],
    [3, "dropped"],
    [1, "dropped"],
    [1, "unused"],
  ]);
});

test("of a deposit beyond what was granted the unused tokens go back first", () => {
  const returned: [number, string][] = [];
  const grant = new Grant(5, undefined, (count, kind) => returned.push([count, kind]));
  expect(grant.deposit({ unused: 4, dropped: 9 })).toBe(5);
  expect(grant.deposit({ unused: 1, dropped: 1 })).toBe(0);
  expect(returned).toEqual([
    [4, "unused"],
    [1, "dropped"],
  ]);
});

test.each([-1, 0.5, Number.NaN, Infinity])("a deposit of %d gives nothing back", (wrong) => {
  const account = new EpochAccount({ ceiling: 10, seat: ALONE, epoch: 0, division: "rotate" });
  const grant = account.acquire(8);
  for (const deposit of [wrong, { unused: wrong }, { unused: 2, dropped: wrong }]) {
    expect(() => grant.deposit(deposit)).toThrow("of Grant.deposit is");
  }
  expect(account.left).toBe(2);
});

test("a refusal carries the reason that the caller gave", () => {
  const account = new EpochAccount({ ceiling: 1, seat: ALONE, epoch: 0, division: "rotate" });
  const grants = [account.acquire(1, "store-lost"), account.acquire(1, "store-lost")];
  expect(grants.map(({ reason }) => reason)).toEqual([undefined, "store-lost"]);
});

test("remainders that no share contains are not unused", () => {
  const account = new EpochAccount({
    ceiling: 11,
    seat: { poolSize: 2, rank: 0 },
    epoch: 0,
    division: "floor",
  });
  account.acquire(5);
  expect(account.usage).toEqual({ used: 5, unused: 0 });
});

test.each([
  ["a pool that shrinks divides what all have left", 12, 4, 2, { poolSize: 2, rank: 0 }, 2],
  ["a pool that grows divides it among more", 12, 2, 2, { poolSize: 4, rank: 0 }, 2],
  ["a pool that has taken all has nothing to divide", 12, 3, 4, { poolSize: 1, rank: 0 }, 0],
  ["a pool that has taken nothing divides all", 12, 3, 0, { poolSize: 2, rank: 1 }, 6],
])("%s", (_, ceiling, poolSize, taken, seat, left) => {
  const account = new EpochAccount({
    ceiling: ceiling,
    seat: { poolSize, rank: 0 },
    epoch: 0,
    division: "rotate",
  });
  account.acquire(taken);
  account.resize(seat);
  expect(account.left).toBe(left);
  expect(account.usage.used).toBe(taken);
});

test("what goes back after the pool changed its size goes to the member that gives it", () => {
  const account = new EpochAccount({
    ceiling: 12,
    seat: { poolSize: 3, rank: 0 },
    epoch: 0,
    division: "rotate",
  });
  const grant = account.acquire(4);
  account.resize({ poolSize: 2, rank: 0 });
  grant.deposit(3);
  expect([account.left, account.usage]).toEqual([3, { used: 1, unused: 3 }]);
});

// A member took its own 4 of 13 and gave 1 back; it then took it that the other two held 3 each,
// but rotation had given one of them 5, and the token it still held was divided again.
test("what rotation gave to others alone is not divided again when the pool shrinks", () => {
  const account = new EpochAccount({
    ceiling: 13,
    seat: { poolSize: 3, rank: 1 },
    epoch: 0,
    division: "rotate",
  });
  account.acquire(5).deposit(1);
  account.resize(ALONE);
  expect(account.left).toBe(13 - (3 + 4 + 3));
});

/** One member of a pool, with every grant it was given. */
interface Member {
  readonly account: EpochAccount;
  readonly grants: Grant[];
  net: number;
}

const POOL_MAX = 6;
const seats = fc
  .integer({ min: 1, max: POOL_MAX })
  .chain((poolSize) =>
    fc.shuffledSubarray([0, 1, 2, 3, 4, 5].slice(0, poolSize), { minLength: poolSize }),
  );
const step = fc.oneof(
  fc.record({ do: fc.constant("acquire" as const), ask: fc.nat(8) }),
  fc.record({
    do: fc.constant("deposit" as const),
    grant: fc.nat(5),
    tokens: fc.oneof(fc.nat(6), fc.record({ unused: fc.nat(4), dropped: fc.nat(4) })),
  }),
  fc.record({ do: fc.constant("resize" as const), ranks: seats }),
);

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

function apply(members: readonly Member[], one: Step): readonly Member[] {
  // A seat that no present member takes is that of a joiner, which waits for the next epoch.
  const present = one.do === "resize" ? members.slice(0, one.ranks.length) : members;
  for (const [i, member] of present.entries()) {
    if (one.do === "acquire") {
      const grant = member.account.acquire(one.ask);
      member.grants.push(grant);
      member.net += grant.count;
    } else if (one.do === "deposit") {
      member.net -= member.grants[one.grant % member.grants.length]?.deposit(one.tokens) ?? 0;
    } else {
      member.account.resize({ poolSize: one.ranks.length, rank: one.ranks[i] ?? 0 });
    }
  }
  return present;
}

test("members that do the same never hold more than the ceiling, whatever they do", () => {
  const division = fc.constantFrom<Division>("rotate", "floor");
  const history = fc.array(step, { maxLength: 10 });
  fc.assert(
    fc.property(
      fc.nat(20),
      seats,
      fc.nat(10),
      division,
      history,
      (ceiling, ranks, epoch, how, steps) => {
        const all = ranks.map((rank): Member => ({
          account: new EpochAccount({
            ceiling: ceiling,
            seat: { poolSize: ranks.length, rank },
            epoch: epoch,
            division: how,
          }),
          grants: [],
          net: 0,
        }));
        let present: readonly Member[] = all;
        for (const one of steps) {
          present = apply(present, one);
          const held = all.reduce((sum, { net }) => sum + net, 0);
          expect(held).toBeLessThanOrEqual(ceiling);
          expect(present.every(({ account, net }) => account.usage.used === net)).toBe(true);
          expect(present.every(({ account }) => account.usage.unused >= 0)).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});
