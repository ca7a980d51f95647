import { ConfigError, InvariantError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { joinFleet, MemoryStore, setPoolLimits } from "../src/index.ts";
import type { FleetLimiter, RateLimitBlock } from "../src/index.ts";
import { FaultyStore, newWorld, SETTLED_MS, sum, takeAll } from "./fleet-world.ts";

const PACINGS = ["smooth", "epoch"] as const;

test.each(PACINGS.flatMap((pacing) => [1, 2, 7, 16, 64].map((size) => ({ pacing, size }))))(
  "a steady pool of $size uses all of the limit and no more, $pacing",
  async ({ pacing, size }) => {
    const { timer, joinAll } = newWorld({ pacing });
    const limiters = await joinAll(size);
    await takeAll(timer, limiters, { ms: 1000 });
    const got = sum(await takeAll(timer, limiters, { ms: 2000 }));
    expect(got).toBeGreaterThanOrEqual(0.97 * 2000);
    expect(got).toBeLessThanOrEqual(2000 + 1.05 * 1000 * 0.05);
    await Promise.all(limiters.map((limiter) => limiter.leave()));
    expect(timer.sleeping).toBe(0);
  },
);

test.each([1, 3, 7])(
  "%s tokens a second flow through a pool of 8, each to one of them",
  async (max) => {
    for (const pacing of PACINGS) {
      const { timer, joinAll } = newWorld({ pacing, rateLimit: { max, min: max } });
      const limiters = await joinAll(8);
      await takeAll(timer, limiters, { ms: 8000, everyMs: 20 });
      const got = await takeAll(timer, limiters, { ms: 16_000, everyMs: 10 });
      expect(Math.abs(sum(got) - 16 * max)).toBeLessThanOrEqual(pacing === "epoch" ? 0 : 8);
      for (const each of got) expect(Math.abs(each - 2 * max)).toBeLessThanOrEqual(1);
      await Promise.all(limiters.map((limiter) => limiter.leave()));
    }
  },
);

test("while members come and go, no second sees more than 5 % over the limit or less than 60 % of it", async () => {
  const change = fc.record({ ms: fc.integer({ min: 100, max: 9000 }), isJoin: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
      const { timer, join, joinAll } = newWorld();
      const limiters: FleetLimiter[] = await joinAll(2);
      const grants: number[] = [];
      let next = 0;
      for (const { ms, isJoin } of changes) {
        if (isJoin) void join(`n-${next++}`).joined.then((limiter) => limiters.push(limiter));
        else if (limiters.length > 1) void limiters.pop()?.leave();
        for (let step = 0; step < ms / 20; step++) {
          await timer.advance(20);
          grants.push(sum(limiters.map((limiter) => limiter.tryAcquireUpTo(1e6)?.count ?? 0)));
        }
      }
      // Fifty steps are a second.
      for (let i = 50; i + 50 <= grants.length; i++) {
        const second = sum(grants.slice(i, i + 50));
        expect(second).toBeLessThanOrEqual(1050);
        expect(second).toBeGreaterThanOrEqual(600);
      }
      await timer.advance(SETTLED_MS);
      await Promise.all(limiters.map((limiter) => limiter.leave()));
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 8 },
  );
});

test("one busy member of ten idle ones has nearly the whole ceiling within 2.5 s", async () => {
  const { timer, joinAll } = newWorld();
  const limiters = await joinAll(10);
  const [hot, other] = limiters;
  if (hot === undefined || other === undefined) throw new Error("no member joined");
  await takeAll(timer, [hot], { ms: 2500 });
  const [got = 0] = await takeAll(timer, [hot], { ms: 2000 });
  expect(got).toBeGreaterThanOrEqual(0.95 * 2000);
  expect(got).toBeLessThanOrEqual(2040);
  // A member that becomes busy shows so at two syncs; three more hand its share over.
  other.tryAcquireUpTo(1000);
  await takeAll(timer, [hot, other], { ms: 3000 });
  const both = await takeAll(timer, [hot, other], { ms: 2000 });
  expect(both[1]).toBeGreaterThanOrEqual(200 * 0.97);
  expect(sum(both)).toBeGreaterThanOrEqual(0.95 * 2000);
  expect(sum(both)).toBeLessThanOrEqual(2050);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test("one busy member of four gets more than 90 % of the rate, and the others get their shares back within 4 s", async () => {
  const { timer, joinAll } = newWorld();
  const limiters = await joinAll(4);
  await takeAll(timer, limiters.slice(0, 1), { ms: 3000 });
  const [busy = 0] = await takeAll(timer, limiters.slice(0, 1), { ms: 2000 });
  expect(busy).toBeGreaterThan(0.9 * 2000);
  // Shares are asked back in steps of 30 % of the ceiling, one a second.
  await takeAll(timer, limiters, { ms: 4000 });
  for (const each of await takeAll(timer, limiters, { ms: 2000 }))
    expect(Math.abs(each - 500)).toBeLessThanOrEqual(25);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test("a lone idle member's first burst finds the whole share", async () => {
  const { timer, joinAll } = newWorld({ pacing: "epoch" });
  const [limiter] = await joinAll(1);
  await timer.advance(60_000);
  expect(limiter?.state().share).toBe(1000);
  expect(limiter?.tryAcquire(1000)?.count).toBe(1000);
  await limiter?.leave();
});

test("no member that asks has less than its equal share, however much the others want", async () => {
  const { timer, joinAll } = newWorld();
  const limiters = await joinAll(4);
  await takeAll(timer, limiters, { ms: 2000 });
  for (const each of await takeAll(timer, limiters, { ms: 2000 })) {
    expect(each).toBeGreaterThanOrEqual(0.97 * 500);
    expect(each).toBeLessThanOrEqual(510);
  }
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

/** A member alone, asked for what a row says at the top of every second; what there was, by its glance. */
async function rampOf(rateLimit: RateLimitBlock, rows: readonly (number | undefined)[]) {
  const { timer, joinAll } = newWorld({
    rateLimit,
    pacing: "epoch",
    replicas: 1,
    store: undefined,
  });
  await timer.advance(5);
  const [limiter] = await joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  const ceilings: (number | undefined)[] = [];
  for (const used of rows) {
    await timer.advance(1000);
    if (used !== undefined) limiter.tryAcquireUpTo(used);
    ceilings.push(used === undefined ? undefined : limiter.state().ceiling);
  }
  await limiter.leave();
  return ceilings;
}

const BLOCK = { max: 110, min: 10, rampUpDuration: "10s" };
const ALL = 1000;
const _ = undefined;

test.each<[string, RateLimitBlock["modes"], (number | undefined)[], (number | undefined)[]]>([
  ["relaxed", { relaxed: {} }, [ALL, 0, ALL, _, _, 0], [10, 20, 30, _, _, 40]],
  [
    "onlyIfUsed",
    { onlyIfUsed: { thresholdPercentage: 100 } },
    [10, 15, 20, 30, _, 40],
    [10, 20, 20, 30, _, 40],
  ],
  [
    "goBackN",
    { goBackN: { thresholdPercentage: 100, coolDownPeriod: "1s", rampDownPercentage: 100 } },
    [10, 20, 0, 20, ALL, _, _, ALL],
    [10, 20, 30, 20, 30, _, _, 20],
  ],
])("%s moves the ceiling by the document's table", async (_name, modes, rows, ceilings) => {
  expect(await rampOf({ ...BLOCK, ...(modes && { modes }) }, rows)).toEqual(ceilings);
});

test("scheduled goes up with the time since the start, with calls or without", async () => {
  const ceilings = await rampOf({ ...BLOCK, rampUpDuration: "100s", modes: { scheduled: {} } }, [
    0,
    _,
    _,
    0,
    0,
  ]);
  // It was made eleven seconds before the first call, one step being a token.
  expect(ceilings).toEqual([21, _, _, 24, 25]);
});

test("a store that counts from another time moves no ramp: the first call finds it where it was", async () => {
  for (const offsetMs of [0, 1_760_000_000_000, -5_000_000]) {
    const { timer, store, join } = newWorld({
      rateLimit: { max: 1000, min: 10, rampUpDuration: "990s", modes: { scheduled: {} } },
    });
    const shifted = new FaultyStore({
      sync: async (request) => {
        const reply = await store.sync(request);
        return reply.kind === "told" ? { ...reply, storeMs: reply.storeMs + offsetMs } : reply;
      },
      leave: (request) => store.leave(request),
      setLimits: (pool, text) => store.setLimits(pool, text),
      close: () => store.close(),
    });
    const { joined } = join("a", { store: shifted });
    await timer.advance(6000);
    const limiter = await joined;
    limiter.tryAcquire(1);
    expect(limiter.state().ceiling).toBe(16);
    await limiter.leave();
  }
});

test("limits set for the whole pool are every member's at the next sync, and wrong ones change nothing", async () => {
  const { timer, store, join, joinAll } = newWorld();
  const limiters = await joinAll(2);
  const late = join("late");
  await takeAll(timer, limiters, { ms: 100 });
  const version = await setPoolLimits(store, "shop/orders", { max: 300, min: 300 });
  await timer.advance(500);
  expect(limiters.map((limiter) => limiter.state().ceiling)).toEqual([300, 300]);
  await timer.advance(500);
  const got = sum(await takeAll(timer, limiters, { ms: 2000 }));
  expect(got).toBeGreaterThanOrEqual(0.9 * 600 * (2 / 3));
  expect(got).toBeLessThanOrEqual(615);
  await timer.advance(SETTLED_MS);
  limiters.push(await late.joined);
  const three = await takeAll(timer, limiters, { ms: 3000 });
  for (const each of three) expect(Math.abs(each - 300)).toBeLessThanOrEqual(9);
  await store.setLimits("shop/orders", '{"max": -1}');
  await timer.advance(1000);
  const told = late.events.flatMap((event) => (event.type === "limits" ? [event.refused] : []));
  expect(told).toEqual([undefined, "rateLimit.max is -1; it must be a whole number of at least 1"]);
  expect(sum(await takeAll(timer, limiters, { ms: 1000 }))).toBeGreaterThan(290);
  expect(limiters[0]?.state().membership?.limitsVersion).toBeGreaterThan(version);
  const started = [{ store: { inMemoryStore: {} } }, { resumedRampUp: true }, { ttl: "1s" }];
  const wrongs = [{ max: 0 }, { max: 5, min: 6 }, ...started.map((each) => ({ max: 5, ...each }))];
  for (const wrong of wrongs)
    await expect(setPoolLimits(store, "shop/orders", wrong)).rejects.toBeInstanceOf(ConfigError);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

const RAMPED = { max: 1000, min: 10, rampUpDuration: "20s", resumedRampUp: true, resumeTtl: "60s" };

/** Brings a member up its ramp, ends it in some way, and answers what its successor starts from. */
async function successorOf(
  end: "redeploy" | "pause" | "crash",
  awayMs: number,
  rateLimit = RAMPED,
) {
  const { timer, store, join, joinAll } = newWorld({ rateLimit });
  const link = new FaultyStore(store);
  const [first] = await joinAll(1, { store: link });
  if (first === undefined) throw new Error("no member joined");
  await takeAll(timer, [first], { ms: 10_000, everyMs: 10 });
  // The level is saved with every sync.
  await timer.advance(500);
  const level = first.state().ceiling ?? 0;
  if (end === "crash") link.fault = "hanging";
  await Promise.all([first.leave(end === "crash" ? "redeploy" : end), timer.advance(500)]);
  await timer.advance(awayMs);
  const next = join("next");
  await timer.advance(SETTLED_MS);
  const second = await next.joined;
  second.tryAcquire(1);
  const state = second.state();
  await second.leave();
  const resumed = next.events.find(({ type }) => type === "resume");
  return { level, ceiling: state.ceiling, from: state.membership?.resumedFrom, resumed };
}

test.each(["redeploy", "crash"] as const)("after a %s the level is taken up again", async (end) => {
  // A pool without syncs is forgotten after two stale ages; until then its members count as running.
  const { level, ceiling, from, resumed } = await successorOf(end, 14_000);
  expect(level).toBeGreaterThan(400);
  expect(ceiling).toBe(level);
  expect(from).toEqual({ level, left: end });
  expect(resumed).toMatchObject({ isTaken: true, saved: { level, left: end } });
});

test.each([
  ["a pause", "pause", 5000, RAMPED],
  ["longer than resumeTtl", "redeploy", 60_000, RAMPED],
  ["a redeploy, if that is not wanted", "redeploy", 5000, { ...RAMPED, resumedRampUp: false }],
] as const)("after %s the ramp begins at its foot", async (_case, end, awayMs, rateLimit) => {
  const { ceiling, from } = await successorOf(end, awayMs, rateLimit);
  expect(ceiling).toBe(10);
  expect(from).toBeUndefined();
});

test("a newcomer starts from the level of those who run", async () => {
  const { timer, join, joinAll } = newWorld({ rateLimit: { ...RAMPED, resumedRampUp: false } });
  const [first] = await joinAll(1);
  if (first === undefined) throw new Error("no member joined");
  await takeAll(timer, [first], { ms: 10_000, everyMs: 10 });
  // The level is saved with every sync.
  await timer.advance(500);
  const level = first.state().ceiling ?? 0;
  const { joined } = join("late");
  await timer.advance(SETTLED_MS);
  const second = await joined;
  second.tryAcquire(1);
  expect(second.state().ceiling).toBeGreaterThanOrEqual(level);
  expect(second.state().membership?.resumedFrom?.left).toBe("running");
  await Promise.all([first.leave(), second.leave()]);
});

test("a newcomer that found the store late does not count the time before it twice", async () => {
  const modes = { scheduled: {} };
  const rateLimit = { max: 1000, min: 10, rampUpDuration: "99s", modes };
  const { timer, store, join, joinAll } = newWorld({ rateLimit });
  const [first] = await joinAll(1);
  if (first === undefined) throw new Error("no member joined");
  first.tryAcquire(1);
  const link = new FaultyStore(store);
  link.fault = "down";
  const { joined } = join("late", { store: link });
  await takeAll(timer, [first], { ms: 5000, everyMs: 100 });
  link.fault = "none";
  await takeAll(timer, [first], { ms: 8000, everyMs: 100 });
  const second = await joined;
  for (const limiter of [first, second]) limiter.tryAcquire(1);
  expect(Math.abs((second.state().ceiling ?? 0) - (first.state().ceiling ?? 0))).toBeLessThan(11);
  await Promise.all([first.leave(), second.leave()]);
});

test.each(["smooth", "epoch"] as const)(
  "a process that was stopped for longer than its lease grants nothing when it goes on, %s",
  async (pacing) => {
    const inner = new VirtualTimer();
    let stoppedMs = 0;
    // Time passes, and no sleeper is woken.
    const timer: Timer = {
      now: () => inner.now() + stoppedMs,
      sleep: (ms, signal) => inner.sleep(ms, signal),
    };
    const store = new MemoryStore(timer);
    const joined = joinFleet({
      pool: "p",
      store,
      rateLimit: { max: 1000, min: 1000 },
      pacing,
      runtime: { timer },
    });
    await inner.advance(SETTLED_MS);
    const limiter = await joined;
    limiter.tryAcquire(1);
    await inner.advance(20);
    expect(limiter.tryAcquire(1)?.count).toBe(1);
    stoppedMs += 4000;
    expect(limiter.tryAcquire(1)?.count).toBe(1);
    stoppedMs += 1000;
    expect(limiter.state()).toMatchObject({ share: 0, left: 0 });
    const waiting = limiter.acquire(5);
    expect(limiter.tryAcquire(5)).toBeUndefined();
    expect(limiter.tryTake(1, timer.now())).toBe(false);
    await inner.advance(SETTLED_MS);
    expect((await waiting).count).toBe(5);
    await limiter.leave();
    expect(inner.sleeping).toBe(0);
  },
);

test.each([
  ["down", "safe-share", 1000 / 64],
  ["hanging", "safe-share", 1000 / 64],
  ["senseless", "safe-share", 1000 / 64],
  ["down", "closed", 0],
  ["down", "open", 500],
] as const)(
  "while the store is %s for 8 s, a member goes on by %s and heals",
  async (fault, onStoreLoss, left) => {
    const { timer, store, joinAll } = newWorld({ onStoreLoss });
    const link = new FaultyStore(store);
    const limiters = await joinAll(2, { store: link });
    link.fault = fault;
    // While the lease lasts nothing changes.
    const leased = await takeAll(timer, limiters, { ms: 3000 });
    for (const each of leased) expect(each).toBeGreaterThanOrEqual(0.97 * 1500);
    await timer.advance(3000);
    for (const limiter of limiters) limiter.tryAcquireUpTo(1000);
    const lost = await takeAll(timer, limiters, { ms: 2000 });
    for (const each of lost) expect(Math.abs(each - 2 * left)).toBeLessThanOrEqual(2 + 0.04 * left);
    for (const { counts, reason } of limiters) {
      expect(reason).toBe("store-lost");
      expect(counts.refusedBy["store-lost"]).toBeGreaterThan(0);
      expect(counts.syncFailures).toBeGreaterThan(8);
      expect(counts.grantedUnleased > 0).toBe(left > 0);
    }
    link.fault = "none";
    // A lease and two syncs later all is as before.
    await timer.advance(6500);
    for (const limiter of limiters) limiter.tryAcquireUpTo(1000);
    const healed = await takeAll(timer, limiters, { ms: 2000 });
    for (const each of healed) expect(Math.abs(each - 1000)).toBeLessThanOrEqual(30);
    for (const limiter of limiters) await limiter.leave();
    expect(timer.sleeping).toBe(0);
  },
);

test.each([
  { replicas: 4, max: 1000, division: "rotate" },
  { replicas: 3, max: 3, division: "floor" },
  { replicas: 3, max: 10, division: "floor" },
  { replicas: 7, max: 10, division: "rotate" },
] as const)("one of $replicas replicas has its part of $max, $division", async (row) => {
  const { replicas, max, division } = row;
  const rateLimit = { max, min: max };
  const { timer, joinAll } = newWorld({
    rateLimit,
    replicas,
    division,
    pacing: "epoch",
    store: undefined,
  });
  const limiters = await joinAll(1);
  await takeAll(timer, limiters, { ms: 2000 });
  const [got = 0] = await takeAll(timer, limiters, { ms: 7000, everyMs: 100 });
  const each = division === "floor" ? Math.floor(max / replicas) : max / replicas;
  expect(Math.abs(got - 7 * each)).toBeLessThan(division === "floor" ? 1e-9 : 1.01);
  expect(limiters[0]?.state().membership).toBeUndefined();
});

test("the state tells what a limiter is at, and looking moves nothing", async () => {
  const { timer, joinAll } = newWorld({ rateLimit: { max: 1000, min: 10, rampUpDuration: "10s" } });
  const limiters = await joinAll(2);
  const [limiter] = limiters;
  if (limiter === undefined) throw new Error("no member joined");
  expect(limiter.state()).toMatchObject({ ceiling: 10, share: 5 });
  await takeAll(timer, limiters, { ms: 2000 });
  const state = limiter.state();
  expect(state).toMatchObject({
    pool: "shop/orders",
    member: "m-0",
    membership: { standing: "member", size: 2, learningMs: 0, resumedFrom: undefined },
    waiting: 0,
  });
  expect(state.share).toBe((state.ceiling ?? 0) / 2);
  expect(state.usage).toBe(1);
  expect(state.membership?.syncAgeMs).toBeLessThanOrEqual(500);
  expect(state.membership?.leaseLeftMs).toBeGreaterThanOrEqual(4500);
  for (let i = 0; i < 20; i++) {
    await timer.advance(1000);
    expect(limiter.state().ceiling).toBe(state.ceiling);
  }
  expect(sum(Object.values(limiter.counts.steps))).toBeLessThanOrEqual(3);
  await limiter.leave();
  expect(limiter.state()).toMatchObject({ share: 0, left: 0 });
});

test.each<[string, object]>([
  ["maxWaiting", { maxWaiting: -1 }],
  ["maxWaiting", { maxWaiting: NaN }],
  ["pool", { pool: "no spaces" }],
  ["member", { member: "a/b" }],
  ["max", { rateLimit: { max: 0 } }],
  ["min", { rateLimit: { max: 1, min: 2 } }],
  ["replicas", { replicas: 3 }],
  ["leaseMs", { timing: { leaseMs: 100, syncIntervalMs: 500 } }],
  ["shares", { shares: "equal" }],
])("a wrong %s is refused before anything begins", async (name, options) => {
  const { timer, store, join } = newWorld();
  const { joined } = join("a", options);
  await expect(joined).rejects.toThrow(ConfigError);
  await expect(joined).rejects.toThrow(name);
  expect([timer.sleeping, store.size]).toEqual([0, 0]);
});

test("a first call finds a token, and a limiter that has left is no member", async () => {
  const { joinAll } = newWorld({ pacing: "smooth" });
  const [limiter] = await joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  expect(limiter.tryAcquireUpTo(500)?.count).toBe(1);
  for (const wrong of [-5, 1.5, Number.NaN])
    expect(() => limiter.tryTake(wrong, 0)).toThrow(InvariantError);
  await expect(limiter.leave("restart" as never)).rejects.toBeInstanceOf(ConfigError);
  expect(limiter.state().membership?.standing).toBe("member");
  await limiter.leave();
  expect(limiter.state().membership).toBeUndefined();
});

test("unknown options are refused, and an observer that throws changes nothing", async () => {
  const { timer, joinAll } = newWorld({ pacing: "smooth" });
  const wrong = joinFleet({ pool: "p", runtime: { timr: timer } as never });
  await expect(wrong).rejects.toThrow('runtime has no option "timr"');
  const [limiter] = await joinAll(1, { onEvent: failLater });
  if (limiter === undefined) throw new Error("no member joined");
  await expect(limiter.acquire(1, { timeout: 5 } as never)).rejects.toThrow("no option");
  expect((await limiter.acquire(1)).count).toBe(1);
  await limiter.leave();
});

function failLater(): unknown {
  return Promise.reject(new Error("observer"));
}
