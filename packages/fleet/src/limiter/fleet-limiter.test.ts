import { Ramp } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { EpochClock } from "../pacing/epoch-clock.ts";
import { EpochPacing } from "../pacing/epoch-pacing.ts";
import type { Pacing } from "../pacing/pacing.ts";
import { SmoothPacing } from "../pacing/smooth-pacing.ts";
import { Ceiling } from "./ceiling.ts";
import { newTally } from "./counts.ts";
import { FleetLimiter } from "./fleet-limiter.ts";
import type { ShareSource, TokenQueue } from "./share-source.ts";

/** A limiter with the whole ceiling, without a pool; `told` is what the demand meter would hear. */
function setUp(max: number, pacingOf: (ceiling: Ceiling) => Pacing) {
  const timer = new VirtualTimer();
  const mode = { kind: "scheduled" } as const;
  const ceiling = new Ceiling(
    new Ramp({ min: max, max, rampUpMs: 0, mode }, { epoch: 0 }),
    () => {},
  );
  const told: string[] = [];
  let queue: TokenQueue | undefined;
  const share: ShareSource = {
    entitlementAt: () => ({ kind: "seat", seat: { poolSize: 1, rank: 0 } }),
    isLeasedAt: () => true,
    reason: "fleet-share",
    demand: {
      onRequested: (count) => void told.push(`requested ${count}`),
      onShort: () => void told.push("short"),
      onDeposited: (count) => void told.push(`deposited ${count}`),
    },
    subscribe: (limiters) => {
      queue = limiters;
    },
    leave: () => Promise.resolve(),
  };
  let nowMs: number | undefined;
  const limiter = new FleetLimiter({
    name: { pool: "p" },
    timer,
    clock: { now: () => nowMs ?? timer.now() },
    epochClock: new EpochClock(),
    paced: { ceiling, pacing: pacingOf(ceiling) },
    share,
    maxWaiting: 10,
    tally: newTally(),
  });
  const setNow = (ms: number): void => {
    nowMs = ms;
  };
  return { timer, limiter, told: () => told.splice(0), setNow, queue: () => queue };
}

test("demand is told the tokens of each call once, whichever way it asks", async () => {
  const { timer, limiter, told } = setUp(100, (ceiling) => new EpochPacing(ceiling, "floor"));
  limiter.tryAcquire(30)?.deposit(10);
  expect(told()).toEqual(["requested 30", "deposited 10"]);
  expect(limiter.tryTake(50, 0)).toBe(true);
  expect(told()).toEqual(["requested 50"]);
  // A gate that is told no asks again, and says how the call ended.
  expect(limiter.tryTake(40, 0)).toBe(false);
  expect(told()).toEqual([]);
  limiter.onRefused(40);
  expect(told()).toEqual(["requested 40"]);
  expect(limiter.tryAcquireUpTo(20)?.count).toBe(20);
  expect(told()).toEqual(["requested 20"]);
  expect(limiter.tryAcquireUpTo(7)?.count).toBe(7);
  expect(limiter.tryAcquireUpTo(90)?.count).toBe(3);
  expect(told()).toEqual(["requested 7", "requested 3", "short"]);
  expect(limiter.tryAcquireUpTo(90)).toBeUndefined();
  expect(told()).toEqual(["short"]);
  expect(limiter.tryAcquire(5)).toBeUndefined();
  expect(told()).toEqual(["requested 5"]);
  const waiting = [limiter.acquire(60), limiter.acquireUpTo(60)];
  expect(told()).toEqual(["requested 60"]);
  await timer.advance(1000);
  expect((await Promise.all(waiting)).map(({ count }) => count)).toEqual([60, 40]);
  expect(told()).toEqual(["requested 40", "short"]);
  await limiter.leave();
});

test("a gate is woken when tokens come back or the share changes, until it unsubscribes", () => {
  const { limiter, queue } = setUp(100, (ceiling) => new EpochPacing(ceiling, "floor"));
  let wakes = 0;
  let isWaiting = false;
  const stop = limiter.subscribe({ wake: () => void wakes++, isWaiting: () => isWaiting });
  const grant = limiter.tryAcquire(2);
  grant?.deposit(1);
  queue()?.wake();
  expect(wakes).toBe(2);
  expect(queue()?.isWaiting()).toBe(false);
  isWaiting = true;
  expect(queue()?.isWaiting()).toBe(true);
  stop();
  grant?.deposit(1);
  expect(wakes).toBe(2);
  expect(queue()?.isWaiting()).toBe(false);
});

test("after a refusal the pause is never 0, however small the missing part of a token", () => {
  const { limiter, setNow } = setUp(1_000_000_000, (ceiling) => new SmoothPacing(ceiling));
  // Times this large are exact to 2^-13 ms, in which a hundred tokens come.
  for (let nowMs = 1e12; nowMs < 1e12 + 1; nowMs += 0.0001) {
    setNow(nowMs);
    limiter.tryAcquireUpTo(1e9);
    for (const count of [1, 2, 50]) {
      if (limiter.tryAcquire(count) !== undefined) continue;
      expect(limiter.pauseMs(count)).toBeGreaterThan(0);
    }
  }
  expect(limiter.counts.refused).toBeGreaterThan(0);
});

test("a charge is taken in full, and what was not there is missing from what comes next", () => {
  const { limiter, told, setNow } = setUp(100, (ceiling) => new SmoothPacing(ceiling));
  setNow(0);
  expect(limiter.tokens()).toBe(1);
  limiter.charge(21);
  expect([limiter.tokens(), told()]).toEqual([0, ["requested 21"]]);
  setNow(200);
  expect([limiter.tokens(), limiter.pauseMs(1)]).toEqual([0, 10]);
  setNow(210);
  expect(limiter.tokens()).toBe(1);
});

test("a limiter that has left has no tokens", async () => {
  const { limiter, setNow } = setUp(100, (ceiling) => new SmoothPacing(ceiling));
  setNow(0);
  await limiter.leave();
  limiter.charge(1);
  expect(limiter.tokens()).toBe(0);
});

test("the share is that of the state, and none is left after leaving", async () => {
  const { limiter } = setUp(100, (ceiling) => new SmoothPacing(ceiling));
  limiter.tryAcquire(1);
  expect([limiter.share, limiter.state().share]).toEqual([100, 100]);
  await limiter.leave();
  expect([limiter.share, limiter.state().share]).toEqual([0, 0]);
});
