import { Ramp } from "@sluice/core";
import type { Division, RampStep } from "@sluice/core/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entitlement } from "../member/membership.ts";
import { PARTS } from "../ledger/parts.ts";
import { Ceiling } from "../limiter/ceiling.ts";
import { EpochPacing } from "./epoch-pacing.ts";
import { EpochClock } from "./epoch-clock.ts";

const ALL = 1e12;

function seat(poolSize: number, rank = 0): Entitlement {
  return { kind: "seat", seat: { poolSize, rank } };
}

function setUp(max: number, division: Division = "rotate", time = new EpochClock()) {
  const steps: RampStep[] = [];
  const ramp = new Ramp(
    { max, min: max, rampUpMs: 10_000, mode: { kind: "relaxed" } },
    { epoch: 0 },
  );
  const ceiling = new Ceiling(ramp, ({ step }) => void steps.push(step));
  return { pacing: new EpochPacing(ceiling, division, time), ceiling, ramp, steps };
}

test("in every epoch the shares of all seats add up to the ceiling, and by floor to no more", () => {
  const size = fc.integer({ min: 1, max: 64 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 5000 }), size, fc.nat(50), (max, poolSize, epoch) => {
      const taken = (division: Division): number => {
        let sum = 0;
        for (let rank = 0; rank < poolSize; rank++)
          sum += setUp(max, division).pacing.take(ALL, epoch * 1000, seat(poolSize, rank));
        return sum;
      };
      expect(taken("rotate")).toBe(max);
      expect(taken("floor")).toBe(max - (max % poolSize));
    }),
  );
});

test("members whose clocks began at different times give a token that rotates to one of them", () => {
  const startsMs = [0, 1000, 5_000_700];
  const members = startsMs.map((startMs, rank) => {
    const time = new EpochClock();
    time.learn(9_000_000, startMs, startMs);
    return { ...setUp(1, "rotate", time), time, startMs, entitlement: seat(3, rank) };
  });
  const got: number[][] = [];
  for (let epoch = 0; epoch < 6; epoch++)
    got.push(
      members.map(({ pacing, time, startMs, entitlement }) =>
        pacing.take(ALL, time.at(startMs + epoch * 1000 + 500), entitlement),
      ),
    );
  for (const shares of got) expect(shares.toSorted((a, b) => a - b)).toEqual([0, 0, 1]);
  for (const rank of [0, 1, 2]) expect(got.reduce((sum, all) => sum + (all[rank] ?? 0), 0)).toBe(2);
});

test("within an epoch a share shrinks and never grows, whatever comes between", () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(sizes, fc.array(fc.nat(30), { maxLength: 20 }), (poolSizes, asks) => {
      const { pacing } = setUp(1000);
      let used = 0;
      let least = Infinity;
      for (const [i, poolSize] of poolSizes.entries()) {
        least = Math.min(least, Math.ceil(1000 / poolSize));
        const before = used;
        used += pacing.take(asks[i] ?? ALL, 100 + i, seat(poolSize));
        expect(used).toBeLessThanOrEqual(Math.max(before, least));
      }
    }),
  );
});

test("a new member has its share in the epoch in which it gets one; a member that lost its share and got it back has only what was left", () => {
  const { pacing } = setUp(1000);
  expect(pacing.take(ALL, 100, undefined)).toBe(0);
  expect(pacing.take(300, 200, seat(2))).toBe(300);
  expect(pacing.take(ALL, 300, undefined)).toBe(0);
  expect(pacing.take(ALL, 400, seat(2))).toBe(0);
  expect(pacing.take(ALL, 1000, seat(2))).toBe(500);
});

test("a time that steps back begins no epoch", () => {
  const { pacing, steps } = setUp(100);
  expect(pacing.take(ALL, 5100, seat(1))).toBe(100);
  for (const atMs of [4100, 4900, 5100, 5999]) expect(pacing.take(ALL, atMs, seat(1))).toBe(0);
  expect(pacing.take(ALL, 6000, seat(1))).toBe(100);
  expect(steps).toHaveLength(2);
});

test("a deposit counts in its epoch and is gone after it", () => {
  const { pacing } = setUp(100);
  pacing.take(100, 0, seat(1));
  const back = pacing.takeBack;
  back(30);
  expect(pacing.take(ALL, 900, seat(1))).toBe(30);
  expect(pacing.take(ALL, 1000, seat(1))).toBe(100);
  back(30);
  expect(pacing.take(ALL, 1500, seat(1))).toBe(0);
});

test("parts of a token are saved up until they are one, unless the rest is left over", () => {
  const third: Entitlement = { kind: "parts", parts: Math.floor(PARTS / 3) };
  const taken = (division: Division): number => {
    const { pacing } = setUp(10, division);
    let sum = 0;
    for (let epoch = 0; epoch < 30; epoch++) sum += pacing.take(ALL, epoch * 1000, third);
    return sum;
  };
  expect(taken("rotate")).toBe(99);
  expect(taken("floor")).toBe(90);
});

test("limits that fall are obeyed at once, those that rise from the next epoch", () => {
  const { pacing, ceiling, ramp } = setUp(1000);
  const alone = seat(1);
  expect(pacing.take(100, 0, alone)).toBe(100);
  ramp.rebound({ max: 200, min: 200, rampUpMs: 0, mode: { kind: "relaxed" } }, 0);
  ceiling.refresh();
  expect(pacing.take(ALL, 10, alone)).toBe(100);
  ramp.rebound({ max: 900, min: 900, rampUpMs: 0, mode: { kind: "relaxed" } }, 0);
  ceiling.refresh();
  expect(pacing.take(ALL, 20, alone)).toBe(0);
  expect(pacing.take(ALL, 1000, alone)).toBe(900);
});

test("a call that is larger than any share is missing from those that follow", () => {
  const { pacing, steps } = setUp(100);
  expect(pacing.leftAt(0, seat(1))).toBe(100);
  expect(pacing.countMax).toBe(100);
  pacing.spend(250);
  expect(pacing.leftAt(1000, seat(1))).toBe(0);
  expect(pacing.readyAtMs(1, 1000, seat(1))).toBe(2000);
  expect(pacing.leftAt(2000, seat(1))).toBe(50);
  expect(pacing.leftAt(9000, seat(1))).toBe(100);
  expect(steps).toHaveLength(4);
});

test("the most that can be there is never more than some epoch has", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 64 }),
      fc.constantFrom<Division>("rotate", "floor"),
      (max, poolSize, division) => {
        const { pacing } = setUp(max, division);
        let most = 0;
        for (let epoch = 0; epoch < poolSize; epoch++)
          most = Math.max(most, pacing.take(ALL, epoch * 1000, seat(poolSize)));
        expect(Math.max(1, most)).toBe(pacing.countMax);
      },
    ),
  );
});

test("a glance moves no ramp and takes nothing", () => {
  const { pacing, ceiling } = setUp(100);
  pacing.take(30, 0, seat(1));
  expect(pacing.glance(500, seat(1))).toEqual({ share: 100, left: 70 });
  expect(pacing.glance(500, seat(2))).toEqual({ share: 50, left: 20 });
  expect(pacing.glance(3000, seat(1))).toEqual({ share: 100, left: 100 });
  expect(ceiling.epoch).toBe(0);
  expect(pacing.leftAt(500, seat(1))).toBe(70);
});
