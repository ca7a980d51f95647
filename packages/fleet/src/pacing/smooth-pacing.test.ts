import { Ramp } from "@sluice/core";
import type { RampStep } from "@sluice/core/internal";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entitlement } from "../member/membership.ts";
import { Ceiling } from "../limiter/ceiling.ts";
import { EpochClock } from "./epoch-clock.ts";
import { SmoothPacing } from "./smooth-pacing.ts";

function seat(poolSize: number): Entitlement {
  return { kind: "seat", seat: { poolSize, rank: 0 } };
}

function setUp(max: number, min: number = max, time: EpochClock = new EpochClock()) {
  const steps: RampStep[] = [];
  const ramp = new Ramp(
    { max, min, rampUpMs: 10_000, mode: { kind: "onlyIfUsed", thresholdPercentage: 100 } },
    { epoch: 0 },
  );
  const ceiling = new Ceiling(ramp, ({ step }) => void steps.push(step));
  return { pacing: new SmoothPacing(ceiling, time), ceiling, steps };
}

interface Use {
  readonly atMs: number;
  count: number;
}

/** The most that any second saw: one that is the most begins with a use. */
function mostInASecond(uses: readonly Use[]): number {
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { atMs, count } of uses) {
    sum += count;
    for (; atMs - (uses[first]?.atMs ?? 0) >= 1000; first++) sum -= uses[first]?.count ?? 0;
    most = Math.max(most, sum);
  }
  return most;
}

function savedUp(share: number): number {
  return Math.max(1 + 0.01 * share, 0.04 * share);
}

const max = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 60, max: 100_000 }));
const ms = fc.oneof(fc.constant(0), fc.nat(20), fc.double({ min: 0, max: 500, noNaN: true }));

test("no sliding second sees more than the share and what can be saved up, whatever is asked for", () => {
  const ask = fc.record({ ms, ask: fc.oneof(fc.nat(5), fc.constant(1e9)), size: fc.nat(4) });
  fc.assert(
    fc.property(max, fc.array(ask, { maxLength: 200 }), (ceiling, asks) => {
      const { pacing } = setUp(ceiling);
      const uses: Use[] = [];
      let atMs = 0;
      for (const each of asks) {
        atMs += each.ms;
        const entitlement = each.size === 0 ? undefined : seat(each.size);
        const count = pacing.take(each.ask, atMs, entitlement);
        if (entitlement === undefined) expect(count).toBe(0);
        uses.push({ atMs, count });
      }
      expect(mostInASecond(uses)).toBeLessThanOrEqual(ceiling + savedUp(ceiling));
    }),
  );
});

test("what comes back can be taken again, and still no second sees more than a twentieth over", () => {
  const step = fc.record({ ms, ask: fc.nat(2000), back: fc.nat(50), part: fc.nat(4) });
  fc.assert(
    fc.property(max, fc.array(step, { maxLength: 300 }), (ceiling, steps) => {
      const { pacing } = setUp(ceiling);
      const uses: Use[] = [];
      const backs: ((count: number) => void)[] = [];
      let atMs = 0;
      for (const { ms: passed, ask, back, part } of steps) {
        atMs += passed;
        const use = { atMs, count: pacing.take(ask, atMs, seat(1)) };
        uses.push(use);
        backs.push(pacing.takeBack);
        const index = uses.length - 1 - back;
        const old = uses[index];
        const returned = Math.floor(((old?.count ?? 0) * part) / 4);
        if (old === undefined || returned === 0) continue;
        backs[index]?.(returned);
        old.count -= returned;
      }
      expect(mostInASecond(uses)).toBeLessThanOrEqual(1.01 * ceiling + savedUp(ceiling));
    }),
  );
});

test("what comes back after more than a second is gone", () => {
  const { pacing } = setUp(1000);
  const backs: ((count: number) => void)[] = [];
  for (let atMs = 0; atMs <= 3000; atMs += 20) {
    pacing.take(1000, atMs, seat(1));
    backs.push(pacing.takeBack);
  }
  backs.at(-60)?.(20);
  expect(pacing.leftAt(3000, seat(1))).toBe(0);
  backs.at(-40)?.(20);
  expect(pacing.leftAt(3000, seat(1))).toBe(20);
});

test("carrying tokens along by depositing and taking them again gathers no more than a second's", () => {
  const { pacing } = setUp(1000);
  const uses: Use[] = [];
  let held: (() => void)[] = [];
  for (let atMs = 1; atMs < 4000; atMs += 5) {
    const carried = [() => {}, ...held];
    held = [];
    for (const giveBack of carried) {
      giveBack();
      const use = { atMs, count: pacing.take(1000, atMs, seat(1)) };
      const back = pacing.takeBack;
      uses.push(use);
      if (use.count === 0) continue;
      held.push(() => {
        back(use.count);
        use.count = 0;
      });
    }
  }
  expect(mostInASecond(uses)).toBeLessThanOrEqual(1050);
});

test("a caller that is never later than what can be saved up gets all of the share, even below one token at a time", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100_000 }), fc.nat(), (ceiling, late) => {
      const { pacing } = setUp(ceiling);
      const everyMs = 1 + (late % Math.max(10, Math.floor(39 - 1000 / ceiling)));
      let got = 0;
      for (let atMs = 0; atMs < 10_000; atMs += everyMs) got += pacing.take(1e9, atMs, seat(1));
      expect(got).toBeGreaterThan(10 * ceiling * 0.99 - 2);
    }),
    { numRuns: 50 },
  );
});

test("a share grows from when it is known, and nothing was saved up for it", () => {
  const { pacing } = setUp(1000);
  pacing.take(1000, 0, seat(10));
  expect(pacing.take(1000, 5000, undefined)).toBe(0);
  expect(pacing.take(1000, 9000, seat(1))).toBe(0);
  expect(pacing.take(1000, 9010, seat(1))).toBe(10);
});

test("a store whose time jumps brings no token, and takes none", () => {
  const time = new EpochClock();
  const { pacing } = setUp(1000, 1000, time);
  pacing.take(1e9, 0, seat(1));
  for (let nowMs = 5; nowMs <= 3000; nowMs += 5) {
    time.learn(nowMs + ((nowMs * 7919) % 50_000), nowMs, nowMs);
    expect(pacing.take(1e9, time.at(nowMs), seat(1))).toBe(5);
  }
});

test("a time that steps back brings nothing and stops nothing", () => {
  const { pacing } = setUp(1000);
  pacing.take(1000, 60_000, seat(1));
  pacing.take(1000, 60_040, seat(1));
  expect(pacing.take(1000, 30_000, seat(1))).toBe(0);
  expect(pacing.take(1000, 30_020, seat(1))).toBe(20);
});

test("an epoch whose tokens were all taken as they came is fully used, however they fall", () => {
  const { pacing, steps, ceiling } = setUp(110, 10);
  for (let atMs = 300; atMs < 12_000; atMs += 7) pacing.take(1e9, atMs, seat(3));
  expect(steps.slice(0, 11)).toEqual(["start", ...Array<string>(10).fill("up")]);
  expect(ceiling.now).toBe(110);
});

test("an epoch of which something was lost is judged by what was used of its share", () => {
  const { pacing, ceiling, steps } = setUp(110, 10);
  for (let atMs = 0; atMs < 500; atMs += 7) pacing.take(1e9, atMs, seat(1));
  pacing.take(0, 1000, seat(1));
  expect(steps).toEqual(["start", "hold"]);
  expect(ceiling.usage).toBeGreaterThanOrEqual(0.4);
  expect(ceiling.usage).toBeLessThan(0.6);
});

test("a call late in an epoch does not hide what was lost before it", () => {
  const { pacing, ceiling } = setUp(1000);
  for (let epoch = 0; epoch < 5; epoch++) pacing.take(1e9, epoch * 1000 + 990, seat(1));
  expect(ceiling.usage).toBeLessThan(0.1);
});

test("a call that is larger than what can be saved up is missing from what comes next", () => {
  const { pacing } = setUp(1000);
  pacing.leftAt(0, seat(1));
  expect(pacing.leftAt(40, seat(1))).toBe(40);
  pacing.spend(140);
  expect(pacing.readyAtMs(1, 40, seat(1))).toBe(141);
  expect(pacing.leftAt(140, seat(1))).toBe(0);
  expect(pacing.leftAt(150, seat(1))).toBe(10);
});

test("what is said to be ready is there then, and nothing is there before", () => {
  fc.assert(
    fc.property(max, fc.nat(40), fc.nat(3000), (ceiling, count, startMs) => {
      const { pacing } = setUp(ceiling);
      pacing.take(1e9, startMs, seat(1));
      const asked = Math.min(1 + count, pacing.countMax);
      const readyAtMs = pacing.readyAtMs(asked, startMs, seat(1)) ?? 0;
      expect(pacing.leftAt(readyAtMs - 0.01, seat(1))).toBeLessThanOrEqual(asked);
      expect(pacing.leftAt(readyAtMs + 1e-6, seat(1))).toBeGreaterThanOrEqual(asked);
    }),
  );
});

test("a glance sees what is there and moves no ramp", () => {
  const { pacing, ceiling, steps } = setUp(1000);
  pacing.take(1e9, 0, seat(2));
  expect(pacing.glance(20, seat(2))).toEqual({ share: 500, left: 10 });
  expect(pacing.glance(5000, seat(2))).toEqual({ share: 500, left: 20 });
  expect(pacing.glance(5000, undefined)).toEqual({ share: 0, left: 0 });
  expect([ceiling.epoch, steps]).toEqual([0, ["start"]]);
  expect(pacing.leftAt(20, seat(2))).toBe(10);
});
