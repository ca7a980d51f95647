/** How a process gets into its pool, waits for its share, and leaves: in virtual time. */
import { ConfigError } from "@sluice/core";
import { expect, test, vi } from "vitest";
import {
  clearPoolLimits,
  DuplicateMemberError,
  FleetClosedError,
  FleetThrottledError,
  joinFleet,
  setPoolLimits,
  StoreError,
} from "../src/index.ts";
import type { FleetLimiter, JoinOptions, PoolStore, SyncReply } from "../src/index.ts";
import { FaultyStore, newWorld, SETTLED_MS, sum, takeAll } from "./fleet-world.ts";
import { syncRequest } from "./requests.ts";

type World = ReturnType<typeof newWorld>;

/** Advances time in steps of `stepMs`, while every member takes all it can; answers the sum of shares ÷ ceiling after each. */
async function sharesOver(
  { timer }: World,
  limiters: readonly FleetLimiter[],
  ms: number,
  stepMs: number = 50,
): Promise<number[]> {
  const sums: number[] = [];
  for (let leftMs = ms; leftMs > 0; leftMs -= stepMs) {
    await timer.advance(stepMs);
    for (const limiter of limiters) limiter.tryAcquireUpTo(1000);
    const total = sum(limiters.map((limiter) => limiter.state().share ?? 0)) / 1000;
    // Without the rounding of a sum of fractions.
    sums.push(Number(total.toFixed(9)));
  }
  return sums;
}

test("of 2 members and 8 more that join 2 s apart all resolve and are ready within 3 s, and the pool never falls below 65 %", async () => {
  const world = newWorld();
  const limiters = await world.joinAll(2);
  const waitsMs: number[] = [];
  const served: Promise<number>[] = [];
  const sums: number[] = [];
  for (let i = 0; i < 8; i++) {
    const fromMs = world.timer.now();
    const joined = await world.join(`late-${i}`).joined;
    void joined.ready().then(() => waitsMs.push(world.timer.now() - fromMs));
    // A call of a joiner waits in its queue for the first share.
    served.push(joined.acquire(1).then(() => world.timer.now() - fromMs));
    limiters.push(joined);
    sums.push(...(await sharesOver(world, limiters, 2000)));
  }
  sums.push(...(await sharesOver(world, limiters, 3000)));
  expect(waitsMs.length).toBe(8);
  expect(Math.max(...waitsMs)).toBeLessThanOrEqual(3000);
  for (const waitMs of await Promise.all(served)) expect(waitMs).toBeLessThanOrEqual(3000);
  expect(Math.min(...sums)).toBeGreaterThanOrEqual(0.65);
  expect(Math.max(...sums)).toBeLessThanOrEqual(1);
  expect(sum(sums) / sums.length).toBeGreaterThanOrEqual(0.9);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
  expect(world.timer.sleeping).toBe(0);
});

test("when 8 more join 2 members within half a second the pool keeps 65 % of its ceiling, and all are ready within 5 s", async () => {
  const world = newWorld();
  const limiters = await world.joinAll(2);
  // Not in step with the syncs of the others: what is released then lies idle for a while.
  for (let i = 0; i < 8; i++) {
    await sharesOver(world, limiters, 55, 5);
    limiters.push(await world.join(`late-${i}`).joined);
  }
  const ready = Promise.all(limiters.map((limiter) => limiter.ready()));
  const sums = await sharesOver(world, limiters, 5000);
  await ready;
  expect(Math.min(...sums)).toBeGreaterThanOrEqual(0.65);
  expect(Math.max(...sums)).toBeLessThanOrEqual(1);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test("a rolling redeploy of 6, one every 5 s, keeps 80 % of the ceiling in use and 97 % on average", async () => {
  const world = newWorld();
  const limiters = await world.joinAll(6);
  const sums: number[] = [];
  for (let i = 0; i < 6; i++) {
    const next = await world.join(`next-${i}`).joined;
    limiters.push(next);
    void next.ready().then(() => limiters.shift()?.leave());
    sums.push(...(await sharesOver(world, limiters, 5000)));
  }
  expect(Math.min(...sums)).toBeGreaterThanOrEqual(0.8);
  expect(Math.max(...sums)).toBeLessThanOrEqual(1);
  expect(sum(sums) / sums.length).toBeGreaterThanOrEqual(0.97);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test("the process that finds the store empty is served on its safe share with its second sync, and has the whole ceiling within 7 s", async () => {
  const { timer, join } = newWorld({ maxMembers: 10 });
  const limiter = await join("a").joined;
  expect(timer.now()).toBe(0);
  const call = limiter.acquire();
  await timer.advance(600);
  expect((await call).count).toBe(1);
  const [first = 0] = await takeAll(timer, [limiter], { ms: 1000 });
  expect(Math.abs(first - 100)).toBeLessThanOrEqual(5);
  await timer.advance(6000);
  expect(limiter.state()).toMatchObject({ share: 1000, membership: { learningMs: 0 } });
  await limiter.leave();
});

test("a process that is started again at once is served within a second, though the store has not learnt", async () => {
  const { timer, join } = newWorld({ maxMembers: 10 });
  const first = await join("a").joined;
  await timer.advance(600);
  await first.leave();
  const second = await join("b").joined;
  const call = second.acquire();
  await timer.advance(1000);
  expect((await call).count).toBe(1);
  await second.leave();
});

test.each([undefined, null, "redis://127.0.0.1:6379", 100])(
  "joinFleet(%j) says that it needs options",
  async (options) => {
    const joined = joinFleet(options as unknown as JoinOptions);
    await expect(joined).rejects.toThrow(`joinFleet was called with ${String(options)}; it needs`);
    await expect(joined).rejects.toThrow(ConfigError);
  },
);

test("only the first of two processes that find the store empty starts on a safe share, unless joinOn is safe-share", async () => {
  for (const [joinOn, share] of [
    ["agreement", 0],
    ["safe-share", 100],
  ] as const) {
    const { timer, join } = newWorld({ maxMembers: 10, joinOn });
    const first = await join("a").joined;
    const second = await join("b").joined;
    await timer.advance(500);
    expect([first.state().share, second.state().share]).toEqual([100, share]);
    await timer.advance(SETTLED_MS);
    expect([first.state().share, second.state().share]).toEqual([500, 500]);
    await Promise.all([first.leave(), second.leave()]);
  }
});

test("ready resolves with the whole share, and at once afterwards or without a store", async () => {
  const { timer, join } = newWorld();
  const limiter = await join("a").joined;
  let isReady = false;
  void limiter.ready().then(() => (isReady = true));
  await timer.advance(5500);
  expect(isReady).toBe(false);
  await timer.advance(1500);
  expect([isReady, limiter.state().share]).toEqual([true, 1000]);
  await limiter.ready();
  await limiter.leave();
  await expect(limiter.ready()).rejects.toThrow(FleetClosedError);
  const alone = await join("b", { store: undefined, replicas: 2 }).joined;
  await alone.ready();
});

test("ready rejects when the member leaves and when its signal is aborted, with one listener for all waiters", async () => {
  const { timer, join } = newWorld();
  const limiter = await join("a").joined;
  const controller = new AbortController();
  const { signal } = controller;
  const listen = vi.spyOn(signal, "addEventListener");
  const aborted = [limiter.ready({ signal }), limiter.ready({ signal })];
  for (const each of aborted) each.catch(() => {});
  expect(listen).toHaveBeenCalledTimes(1);
  controller.abort(new Error("no longer"));
  for (const each of aborted) await expect(each).rejects.toThrow("no longer");
  await expect(limiter.ready({ signal })).rejects.toThrow("no longer");
  const left = limiter.ready();
  left.catch(() => {});
  await limiter.leave();
  await expect(left).rejects.toThrow(FleetClosedError);
  expect(timer.sleeping).toBe(0);
});

test.each(["down", "hanging", "senseless"] as const)(
  "while the store is %s joining keeps trying and warns every 5 s, and resolves when the store is back",
  async (fault) => {
    const { timer, store, join } = newWorld({ maxMembers: 10 });
    const link = new FaultyStore(store);
    link.fault = fault;
    const { joined, warnings } = join("a", { store: link });
    await timer.advance(60_000);
    expect(warnings.length).toBe(12);
    expect(warnings[11]).toMatch(/^the store of pool shop\/orders has not answered yet \(.+\)/);
    link.fault = "none";
    await timer.advance(750);
    const limiter = await joined;
    const call = limiter.acquire();
    await timer.advance(10_000);
    expect((await call).count).toBe(1);
    expect(warnings.length).toBe(12);
    await limiter.leave();
    expect(timer.sleeping).toBe(0);
  },
);

test("without onWarning the warnings are process warnings", async () => {
  const { timer, store, join } = newWorld({ maxMembers: 10, onWarning: undefined });
  const link = new FaultyStore(store);
  link.fault = "down";
  const emit = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  try {
    const controller = new AbortController();
    const { joined } = join("a", { store: link, signal: controller.signal });
    await timer.advance(5000);
    expect(emit).toHaveBeenCalledExactlyOnceWith(
      expect.stringContaining("has not answered yet (no connection)"),
      "SluiceWarning",
    );
    controller.abort(new Error("no longer"));
    await timer.advance(500);
    await expect(joined).rejects.toThrow("no longer");
  } finally {
    emit.mockRestore();
  }
});

test("an abort ends the joining, before it began or while it waits, and leaves no timer and no member", async () => {
  const { timer, store, join } = newWorld({ maxMembers: 10 });
  const link = new FaultyStore(store);
  link.fault = "down";
  const controller = new AbortController();
  const { joined } = join("a", { store: link, signal: controller.signal });
  await timer.advance(2000);
  controller.abort(new Error("no longer"));
  await timer.advance(500);
  await expect(joined).rejects.toThrow("no longer");
  await expect(join("b", { signal: controller.signal }).joined).rejects.toThrow("no longer");
  expect([timer.sleeping, store.size]).toEqual([0, 0]);
});

/** A store that answers every sync with this. */
function answering(answer: SyncReply | Error): PoolStore {
  const sync = (): Promise<SyncReply> =>
    answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  return {
    sync,
    leave: () => Promise.resolve(),
    setLimits: () => Promise.resolve(1),
    close: () => Promise.resolve(),
  };
}

test.each<[string, PoolStore, new (...args: never[]) => Error, string]>([
  [
    "a wrong password",
    answering(new StoreError("Redis: WRONGPASS", { canHeal: false })),
    StoreError,
    "WRONGPASS",
  ],
  ["a full pool", answering({ kind: "refused", why: "pool-full" }), StoreError, "1000 members"],
  [
    "another timing",
    answering({ kind: "refused", why: "other-timing" }),
    ConfigError,
    "timing differs from that of the running members of pool shop/orders",
  ],
])(
  "%s fails at once, with the cause, and leaves nothing behind",
  async (_what, store, type, text) => {
    const { timer, join } = newWorld();
    const { joined } = join("a", { store });
    await expect(joined).rejects.toThrow(type);
    await expect(joined).rejects.toThrow(text);
    expect([timer.now(), timer.sleeping]).toEqual([0, 0]);
  },
);

test("members with another timing are refused while the pool runs, and accepted once its last member has left", async () => {
  const { join } = newWorld();
  const first = await join("a").joined;
  const timing = { leaseMs: 6000, staleMs: 8000 };
  await expect(join("b", { timing }).joined).rejects.toThrow(ConfigError);
  await first.leave();
  await (await join("b", { timing }).joined).leave();
});

test("a second process of the same id grants nothing, and fails after the stale age while the first lives", async () => {
  const { timer, join, joinAll } = newWorld();
  const [first] = await joinAll(1);
  const { joined, warnings } = join("m-0");
  const fromMs = timer.now();
  let failedMs = 0;
  joined.catch(() => (failedMs = timer.now() - fromMs));
  await takeAll(timer, first === undefined ? [] : [first], { ms: 10_000 });
  await expect(joined).rejects.toThrow(DuplicateMemberError);
  await expect(joined).rejects.toMatchObject({ code: "DUPLICATE" });
  expect(failedMs).toBeGreaterThan(6500);
  expect(failedMs).toBeLessThanOrEqual(8500);
  expect(warnings.filter((text) => text.includes("not answered"))).toEqual([]);
  expect(first?.state()).toMatchObject({ share: 1000, membership: { size: 1 } });
  await first?.leave();
  expect(timer.sleeping).toBe(0);
});

test("a joiner takes no more than its equal share from members that are idle, and the rest if its calls wait", async () => {
  const world = newWorld();
  const limiters = await world.joinAll(4);
  const joiner = await world.join("late").joined;
  limiters.push(joiner);
  for (let stepMs = 0; stepMs < 3000; stepMs += 50) {
    await world.timer.advance(50);
    for (const limiter of limiters.slice(0, 4))
      expect(limiter.state().share).toBeGreaterThanOrEqual(200);
  }
  for (const limiter of limiters) expect(limiter.state().share).toBe(200);
  await takeAll(world.timer, [joiner], { ms: 2500 });
  expect(joiner.state().share).toBeGreaterThan(900);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test("a process that was killed gets in again under its id within the stale age", async () => {
  const { timer, store, join, joinAll } = newWorld();
  const link = new FaultyStore(store);
  const [old] = await joinAll(1, { store: link });
  link.fault = "down";
  const { joined } = join("m-0");
  await timer.advance(8000);
  const limiter = await joined;
  await limiter.ready();
  expect(limiter.state().share).toBe(1000);
  await Promise.all([limiter.leave(), old?.leave()]);
});

test("why tokens are missing: joining, refused, store lost, or the share", async () => {
  const { timer, store, join, joinAll } = newWorld({ onStoreLoss: "closed" });
  const link = new FaultyStore(store);
  const [member] = await joinAll(1, { store: link });
  const { joined } = join("late", { store: link });
  const joiner = await joined;
  expect([member?.reason, joiner.reason]).toEqual(["fleet-share", "fleet-joining"]);
  const refusal = await joiner.acquire(1, { timeoutMs: 0 }).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(FleetThrottledError);
  expect(refusal).toMatchObject({ reason: "fleet-joining" });
  await timer.advance(SETTLED_MS);
  expect(joiner.reason).toBe("fleet-share");
  link.fault = "down";
  await timer.advance(6000);
  expect([member?.reason, joiner.reason]).toEqual(["store-lost", "store-lost"]);
  // Another process takes the id while this one is cut off.
  await timer.advance(SETTLED_MS);
  await store.sync(syncRequest({ member: "late", nonce: "other" }));
  link.fault = "none";
  await timer.advance(500);
  expect(joiner.reason).toBe("fleet-refused");
  expect(joiner.state()).toMatchObject({ share: 0, membership: { standing: "refused" } });
  await Promise.all([member?.leave(), joiner.leave()]);
});

test("events tell of every standing, size and share with the reason, and of lost memory", async () => {
  const { timer, store, join } = newWorld({ maxMembers: 10 });
  const first = join("a");
  const a = await first.joined;
  await timer.advance(SETTLED_MS);
  const b = await join("b").joined;
  await timer.advance(3000);
  store.forget("shop/orders");
  await timer.advance(2000);
  const told = first.events.map(({ atMs: _atMs, ...event }) => event);
  expect(told.slice(0, 2)).toEqual([
    { type: "size", size: 1, before: 0 },
    { type: "share", parts: 100_000_000, before: 0, reason: "grown" },
  ]);
  expect(told).toContainEqual({
    type: "standing",
    standing: "member",
    before: "joining",
    reason: "arrived",
  });
  expect(told).toContainEqual({ type: "size", size: 2, before: 1 });
  const shares = told.flatMap((event) => (event.type === "share" ? [event] : []));
  expect(shares.map(({ reason }) => reason)).toContain("asked-back");
  expect(shares.at(-1)).toMatchObject({ parts: 500_000_000 });
  expect(told.filter(({ type }) => type === "learning")).toEqual([
    { type: "learning", forMs: 6000 },
  ]);
  expect([a.state().share, b.state().share]).toEqual([500, 500]);
  await Promise.all([a.leave(), b.leave()]);
});

test("a client library of a version that is too old is told at once", async () => {
  const library = { createClient: () => undefined };
  const joined = newWorld().join("a", { store: { url: "redis://127.0.0.1:1", library } }).joined;
  await expect(joined).rejects.toThrow(/^library is a module without Redis and Cluster/);
});

test.each([undefined, "redis://:secret@127.0.0.1:6379", {}])(
  "limits of a pool need a store, not an address: %j",
  async (given) => {
    const store = given as unknown as PoolStore;
    for (const call of [
      () => setPoolLimits(store, "shop/orders", { max: 300 }),
      () => clearPoolLimits(store, "shop/orders"),
    ]) {
      const changed = call();
      await expect(changed).rejects.toThrow(ConfigError);
      await expect(changed).rejects.toThrow(
        "store is no store; it must be what redisStore() or new MemoryStore() return",
      );
    }
  },
);

test("clearPoolLimits gives every member its own limits back, also after a flush and a redeploy", async () => {
  const { timer, store, join } = newWorld();
  const a = await join("a").joined;
  const b = await join("b", { rateLimit: { max: 800, min: 800 } }).joined;
  const ceilings = (): unknown[] => [a, b].map((each) => each.state().ceiling);
  await setPoolLimits(store, "shop/orders", { max: 300, min: 300 });
  await timer.advance(1000);
  expect(ceilings()).toEqual([300, 300]);
  // Members teach an emptied store the limits, and a later process learns them from it.
  store.forget("shop/orders");
  await timer.advance(1000);
  await b.leave();
  const next = await join("next").joined;
  expect(next.state()).toMatchObject({ ceiling: 300 });
  await clearPoolLimits(store, "shop/orders");
  await timer.advance(1000);
  expect([a, next].map((each) => each.state().ceiling)).toEqual([1000, 1000]);
  await Promise.all([a.leave(), next.leave()]);
});

test("a member with other limits of its own has them at once, unless limits are set for the whole pool", async () => {
  const { timer, store, join } = newWorld();
  const member = await join("a").joined;
  const bounds = (): unknown => member.state().bounds;
  member.setOwnLimits({ max: 800, min: 800 });
  expect(member.state()).toMatchObject({ ceiling: 800, bounds: { max: 800, min: 800 } });
  await setPoolLimits(store, "shop/orders", { max: 300, min: 300 });
  await timer.advance(1000);
  member.setOwnLimits({ max: 500, min: 500 });
  expect(bounds()).toMatchObject({ max: 300 });
  await clearPoolLimits(store, "shop/orders");
  await timer.advance(1000);
  expect(member.state()).toMatchObject({ ceiling: 500, bounds: { max: 500, min: 500 } });
  await member.leave();
  const unlimited = await joinFleet({ pool: "shop/orders", replicas: 1, runtime: { timer } });
  expect(() => unlimited.setOwnLimits({ max: 5 })).toThrow(/was joined without a limit/);
});

test("a limiter leaves at the end of its block", async () => {
  const { timer, join } = newWorld();
  let kept: FleetLimiter;
  {
    await using limiter = await join("a").joined;
    kept = limiter;
  }
  await expect(kept.acquire()).rejects.toThrow(FleetClosedError);
  expect(timer.sleeping).toBe(0);
});

test("a pool that loses a member to a crash every 4 s keeps 80 % of its rate on average", async () => {
  const world = newWorld();
  const { timer, store } = world;
  const limiters = await world.joinAll(5);
  const sums: number[] = [];
  for (let i = 0; i < 6; i++) {
    const link = new FaultyStore(store);
    const crashing = await world.join(`crash-${i}`, { store: link }).joined;
    sums.push(...(await sharesOver(world, [...limiters, crashing], 4000)));
    link.fault = "down";
    void crashing.leave();
  }
  expect(Math.max(...sums)).toBeLessThanOrEqual(1);
  expect(sum(sums) / sums.length).toBeGreaterThanOrEqual(0.8);
  await timer.advance(SETTLED_MS);
  expect(sum(limiters.map((limiter) => limiter.state().share ?? 0))).toBeCloseTo(1000, 3);
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test("a missing client library fails at once, with its name", async () => {
  for (const name of ["ioredis", "iovalkey", "redis"] as const)
    vi.doMock(name, () => {
      throw new Error(`Cannot find package '${name}'`);
    });
  try {
    const joined = joinFleet({
      pool: "p",
      store: "redis://127.0.0.1:1",
      rateLimit: { max: 10 },
      maxMembers: 2,
    });
    await expect(joined).rejects.toThrow("npm install ioredis");
  } finally {
    for (const name of ["ioredis", "iovalkey", "redis"] as const) vi.doUnmock(name);
  }
});

test("a limiter without a store takes other limits at once and keeps its level; one with a store names setPoolLimits", async () => {
  const { timer, join } = newWorld();
  const alone = await joinFleet({
    pool: "shop/orders",
    rateLimit: { max: 100, min: 100 },
    replicas: 1,
    runtime: { timer },
  });
  alone.tryAcquireUpTo(1000);
  await timer.advance(1000);
  alone.tryAcquireUpTo(1000);
  const waiting = alone.acquire(20);
  alone.setRateLimit({ max: 2000, min: 1 });
  expect(alone.state().ceiling).toBe(100);
  alone.setRateLimit({ max: 2000, min: 2000 });
  expect(alone.state().ceiling).toBe(2000);
  await timer.advance(15);
  await expect(waiting).resolves.toMatchObject({ count: 20 });
  await alone.leave();
  const { joined } = join("a");
  await timer.advance(SETTLED_MS);
  const member = await joined;
  expect(() => member.setRateLimit({ max: 5 })).toThrow(/setPoolLimits\(store, "shop\/orders"/);
});
