import { getEventListeners } from "node:events";
import { InvariantError, SluiceError } from "@sluice/core";
import type { Grant } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FleetClosedError, FleetThrottledError } from "../src/index.ts";
import { FaultyStore, newWorld, sum, takeAll } from "./fleet-world.ts";

/** One member, alone in its pool, with all of the ceiling. */
async function setUp(options: Parameters<typeof newWorld>[0] = {}) {
  const world = newWorld(options);
  const [limiter] = await world.joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  return { ...world, limiter };
}

function newSignal() {
  const controller = new AbortController();
  return { signal: controller.signal, abort: () => controller.abort(new Error("given up")) };
}

test("acquire and tryAcquire grant all or nothing, their up-to forms what is there and why it is less", async () => {
  const { timer, limiter } = await setUp({ pacing: "epoch" });
  await timer.advance(1000);
  const all = await limiter.acquire(600);
  expect([all.count, all.reason]).toEqual([600, undefined]);
  expect(limiter.tryAcquire(401)).toBeUndefined();
  expect(limiter.tryAcquire(100)?.count).toBe(100);
  const part = await limiter.acquireUpTo(600, { timeoutMs: 1000 });
  expect([part.count, part.reason]).toEqual([300, "fleet-share"]);
  expect(limiter.tryAcquire()).toBeUndefined();
  expect(limiter.tryAcquireUpTo(600)).toBeUndefined();
  expect((await limiter.acquire(0)).count).toBe(0);
  expect(limiter.tryAcquireUpTo(0)?.count).toBe(0);
  await limiter.leave();
  expect(timer.sleeping).toBe(0);
});

test("a waiting acquire gets all its tokens, a waiting acquireUpTo the first that comes", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 100, min: 100 } });
  await takeAll(timer, [limiter], { ms: 1000, everyMs: 10 });
  const startMs = timer.now();
  const doneAtMs: number[] = [];
  const calls = [limiter.acquire(4), limiter.acquireUpTo(4)].map(async (call) => {
    const { count } = await call;
    doneAtMs.push(timer.now() - startMs);
    return count;
  });
  await timer.advance(100);
  expect(await Promise.all(calls)).toEqual([4, 1]);
  expect(doneAtMs.map(Math.round)).toEqual([40, 50]);
  await limiter.leave();
});

test("a call for more than can be saved up is granted whole, and later calls wait for its debt", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 100, min: 100 } });
  const startMs = timer.now();
  const heavy = limiter.acquire(250);
  const next = limiter.acquire(1).then(() => timer.now() - startMs);
  await timer.advance(3000);
  expect((await heavy).count).toBe(250);
  expect(await next).toBeGreaterThan(2400);
  expect(await next).toBeLessThan(2600);
  await limiter.leave();
});

test("waiting calls are served in the order of their arrival, and no later call overtakes them", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 10, min: 10 } });
  limiter.tryAcquireUpTo(100);
  const order: number[] = [];
  const calls = [1, 1, 1].map(async (count, i) => {
    await limiter.acquire(count);
    order.push(i);
  });
  for (let i = 0; i < 40; i++) {
    await timer.advance(10);
    if (limiter.waiting === 0) break;
    expect(limiter.tryAcquire(1)).toBeUndefined();
    expect(limiter.pauseMs(1)).toBeGreaterThan(0);
  }
  await Promise.all(calls);
  expect(order).toEqual([0, 1, 2]);
  await limiter.leave();
});

test("a wait that ends without tokens rejects: at its timeout, when it is aborted, when the limiter leaves", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 1, min: 1 }, pacing: "epoch" });
  await timer.advance(1000);
  expect(limiter.tryAcquire(1)?.count).toBe(1);
  const controller = new AbortController();
  const startMs = timer.now();
  const late = limiter.acquire(5, { timeoutMs: 100 });
  const aborted = limiter.acquire(5, { signal: controller.signal });
  const left = [limiter.acquire(5), limiter.acquireUpTo(5, { timeoutMs: 1e6 })];
  for (const call of [late, aborted, ...left]) call.catch(() => {});
  expect(limiter.state()).toMatchObject({ waiting: 4, waitingTokens: 20 });
  await timer.advance(150);
  await expect(late).rejects.toBeInstanceOf(FleetThrottledError);
  await expect(late).rejects.toMatchObject({
    code: "THROTTLED",
    reason: "fleet-share",
    pool: "shop/orders",
    message: expect.stringMatching(
      /^shop\/orders: 5 tokens did not come within 100 ms; raise timeoutMs, or try again in about \d+ ms \(fleet-share\)$/,
    ) as unknown,
  });
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  await limiter.leave();
  for (const call of left) await expect(call).rejects.toMatchObject({ code: "CLOSED" });
  expect(limiter.counts).toMatchObject({ waits: 4, granted: 1, refused: 20, requested: 21 });
  expect(limiter.counts.waitedMs).toBe(100 + 3 * (timer.now() - startMs));
  await expect(limiter.acquire(1, { signal: controller.signal })).rejects.toThrow("enough");
  await expect(limiter.acquire(1)).rejects.toBeInstanceOf(FleetClosedError);
  await expect(limiter.acquire(1)).rejects.toThrow("call joinFleet for a new one");
  expect(limiter.tryAcquire(1)).toBeUndefined();
  expect(limiter.pauseMs(1)).toBeGreaterThan(0);
  expect(timer.sleeping).toBe(0);
});

test("a timeout of 0 rejects at once, with when to try again", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 100, min: 100 } });
  await takeAll(timer, [limiter], { ms: 1000 });
  const refused = limiter.acquire(4, { timeoutMs: 0 });
  await expect(refused).rejects.toMatchObject({ code: "THROTTLED" });
  const { retryAfterMs } = (await refused.catch((error: unknown) => error)) as FleetThrottledError;
  expect(retryAfterMs).toBeGreaterThan(0);
  expect(retryAfterMs).toBeLessThanOrEqual(40);
  await timer.advance(retryAfterMs ?? 0);
  expect((await limiter.acquire(4, { timeoutMs: 0 })).count).toBe(4);
  await limiter.leave();
});

test("a thousand waiters on one signal add one listener, and aborting it rejects exactly the waiting ones", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 100, min: 100 } });
  await takeAll(timer, [limiter], { ms: 1000 });
  const { signal, abort } = newSignal();
  const ended = { granted: 0, aborted: 0 };
  const calls = Array.from({ length: 1000 }, () =>
    limiter.acquire(1, { signal }).then(
      () => ended.granted++,
      () => ended.aborted++,
    ),
  );
  const bystander = limiter.acquire(1);
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  await timer.advance(1000);
  expect(ended).toEqual({ granted: 100, aborted: 0 });
  expect(getEventListeners(signal, "abort")).toHaveLength(1);
  abort();
  await Promise.all(calls);
  expect(ended).toEqual({ granted: 100, aborted: 900 });
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
  await timer.advance(10);
  expect((await bystander).count).toBe(1);
  await limiter.leave();
});

test("a signal keeps no listener of calls that were granted, timed out or ended by leave", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 1, min: 1 } });
  limiter.tryAcquireUpTo(9);
  const signals = [newSignal().signal, newSignal().signal, newSignal().signal] as const;
  const calls = [
    limiter.acquire(1, { signal: signals[0] }),
    limiter.acquire(1, { signal: signals[1], timeoutMs: 10 }),
    limiter.acquire(1, { signal: signals[2] }),
  ];
  const settled = Promise.allSettled(calls);
  await timer.advance(1000);
  expect(limiter.waiting).toBe(1);
  await limiter.leave();
  expect((await settled).map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
  ]);
  for (const signal of signals) expect(getEventListeners(signal, "abort")).toHaveLength(0);
});

test("each call's tokens count once: requested = granted + refused + waiting, whatever happens", async () => {
  const step = fc.record({
    ms: fc.nat(120),
    ask: fc.nat(12),
    how: fc.constantFrom("try", "try-up-to", "wait", "wait-up-to", "abort", "take", "refused"),
    timeoutMs: fc.option(fc.nat(200), { nil: undefined }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { timer, joinAll } = newWorld({ rateLimit: { max: 50, min: 50 }, maxWaiting: 5 });
      const [limiter] = await joinAll(1, { store: undefined, replicas: 1 });
      if (limiter === undefined) return;
      const calls: Promise<unknown>[] = [];
      const check = (): void => {
        const { requested, granted, refused, refusedBy } = limiter.counts;
        expect(requested).toBe(granted + refused + limiter.state().waitingTokens);
        expect(refused).toBe(sum(Object.values(refusedBy)));
      };
      let { signal, abort } = newSignal();
      for (const { ms, ask, how, timeoutMs } of steps) {
        const options = { signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
        if (how === "try") limiter.tryAcquire(ask);
        else if (how === "try-up-to") limiter.tryAcquireUpTo(ask);
        else if (how === "wait") calls.push(limiter.acquire(ask, options));
        else if (how === "wait-up-to") calls.push(limiter.acquireUpTo(ask, options));
        else if (how === "take") limiter.tryTake(ask, timer.now());
        else if (how === "refused") limiter.onRefused(ask);
        else {
          abort();
          ({ signal, abort } = newSignal());
        }
        for (const call of calls) call.catch(() => {});
        check();
        await timer.advance(ms);
        check();
      }
      await limiter.leave();
      await Promise.allSettled(calls);
      check();
      expect(limiter.state().waitingTokens).toBe(0);
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 60 },
  );
});

test("a second leave resolves together with the first", async () => {
  const world = newWorld();
  const link = new FaultyStore(world.store);
  const [limiter] = await world.joinAll(1, { store: link });
  link.fault = "hanging";
  let left = 0;
  for (let i = 0; i < 2; i++) void limiter?.leave().then(() => left++);
  await world.timer.advance(499);
  expect(left).toBe(0);
  await world.timer.advance(1);
  expect(left).toBe(2);
  expect(world.timer.sleeping).toBe(0);
});

test("no timer is armed once the last waiting call has ended", async () => {
  const { timer, limiter } = await setUp({
    replicas: 1,
    rateLimit: { max: 1, min: 1 },
    store: undefined,
  });
  limiter.tryAcquireUpTo(9);
  const controller = new AbortController();
  const calls = [
    limiter.acquire(1, { timeoutMs: 5 }),
    limiter.acquire(1, { signal: controller.signal }),
  ];
  const settled = Promise.allSettled(calls);
  await timer.advance(6);
  controller.abort();
  await settled;
  await timer.advance(0);
  expect(timer.sleeping).toBe(0);
  await limiter.leave();
});

test("a call that finds the queue full rejects at once and says how to have a longer one", async () => {
  const { timer, limiter } = await setUp({ maxWaiting: 2, rateLimit: { max: 1, min: 1 } });
  limiter.tryAcquireUpTo(9);
  const waiting = [limiter.acquire(1), limiter.acquire(1)];
  await expect(limiter.acquire(1)).rejects.toMatchObject({ code: "THROTTLED" });
  await expect(limiter.acquire(1)).rejects.toThrow(
    "shop/orders: queue full: 2 calls wait (maxWaiting); raise maxWaiting, or try again in about 3000 ms (fleet-share)",
  );
  expect(limiter.waiting).toBe(2);
  await timer.advance(2500);
  expect((await Promise.all(waiting)).map(({ count }) => count)).toEqual([1, 1]);
  await limiter.leave();
});

test("many callers in one process share what it has: nothing is lost, nothing is granted twice", async () => {
  const { timer, limiter } = await setUp();
  let used = 0;
  const over = new AbortController();
  const callers = Array.from({ length: 20 }, async () => {
    while (!over.signal.aborted) {
      const grant = await limiter.acquire(7).catch(() => undefined);
      used += grant?.count ?? 0;
    }
  });
  await timer.advance(1000);
  const before = used;
  await timer.advance(10_000);
  expect(used - before).toBeGreaterThan(9900);
  expect(used - before).toBeLessThanOrEqual(10_040);
  over.abort();
  await limiter.leave();
  await Promise.all(callers);
  const { requested, granted, refused } = limiter.counts;
  expect(requested).toBe(granted + refused);
  expect(granted).toBe(used);
});

test("an observer that ends a wait as the epoch begins costs no token", async () => {
  const { signal, abort } = newSignal();
  const { timer, limiter } = await setUp({
    rateLimit: { max: 1, min: 1 },
    pacing: "epoch",
    onEvent: ({ type }) => {
      if (type === "step" && limiter.waiting > 0) abort();
    },
  });
  await timer.advance(1000);
  expect(limiter.tryAcquire()?.count).toBe(1);
  const aborted = limiter.acquire(1, { signal });
  const next = limiter.acquire(1);
  aborted.catch(() => {});
  await timer.advance(1000);
  await expect(aborted).rejects.toThrow("given up");
  expect((await next).count).toBe(1);
  expect(limiter.counts).toMatchObject({ requested: 3, granted: 2, refused: 1 });
  await limiter.leave();
});

test("a waiting call gets its token as soon as a rising ramp allows, not when the old share would", async () => {
  const { timer, limiter } = await setUp({
    store: undefined,
    replicas: 20,
    rateLimit: { max: 1000, min: 1, rampUpDuration: "10s" },
  });
  limiter.tryAcquireUpTo(9);
  const startMs = timer.now();
  const waited = limiter.acquire(1).then(() => timer.now() - startMs);
  expect(limiter.pauseMs()).toBeGreaterThan(10_000);
  await timer.advance(30_000);
  expect(await waited).toBeLessThan(3000);
  await limiter.leave();
});

test("deposits mint nothing, whatever is said to have been unused or dropped", async () => {
  const step = fc.record({
    ms: fc.nat(60),
    ask: fc.nat(80),
    unused: fc.nat(100),
    dropped: fc.nat(100),
    which: fc.nat(10),
  });
  const pacing = fc.constantFrom("smooth" as const, "epoch" as const);
  const { timer, joinAll } = newWorld();
  await timer.advance(0);
  await fc.assert(
    fc.asyncProperty(pacing, fc.array(step, { maxLength: 60 }), async (name, steps) => {
      const [limiter] = await joinAll(1, { pacing: name, store: undefined, replicas: 1 });
      if (limiter === undefined) return;
      const grants: Grant[] = [];
      const back: number[] = [];
      const startMs = timer.now();
      for (const { ms, ask, unused, dropped, which } of steps) {
        await timer.advance(ms);
        const grant = limiter.tryAcquireUpTo(ask);
        if (grant === undefined) continue;
        expect(grant.count).toBeLessThanOrEqual(ask);
        grants.push(grant);
        back.push(grants.at(-1 - which)?.deposit({ unused, dropped }) ?? 0);
      }
      const granted = sum(grants.map(({ count }) => count));
      const { counts } = limiter;
      expect(counts.granted).toBe(granted);
      expect(counts.deposited + counts.refunded).toBe(sum(back));
      expect(sum(back)).toBeLessThanOrEqual(granted);
      const seconds = Math.floor((timer.now() - startMs) / 1000) + 2;
      expect(granted - sum(back)).toBeLessThanOrEqual(seconds * 1000);
      await limiter.leave();
    }),
    { numRuns: 20 },
  );
});

test("deposited tokens go to the first waiting call at once", async () => {
  const { timer, limiter } = await setUp({ pacing: "epoch" });
  await timer.advance(1000);
  const grant = await limiter.acquire(1000);
  const waiting = limiter.acquireUpTo(200);
  await timer.advance(1);
  expect(limiter.waiting).toBe(1);
  expect(grant.deposit({ unused: 120, dropped: 7 })).toBe(127);
  expect(limiter.tryAcquire(1)).toBeUndefined();
  expect(limiter.tryTake(1, timer.now())).toBe(false);
  await timer.advance(0);
  expect((await waiting).count).toBe(127);
  expect(limiter.counts).toMatchObject({ deposited: 120, refunded: 7 });
  await limiter.leave();
});

test.each([-1, 0.5, NaN, Infinity, 2 ** 60])("%s is no count of tokens", async (count) => {
  const { limiter } = await setUp({ store: undefined, replicas: 1 });
  expect(() => limiter.tryAcquire(count)).toThrow(InvariantError);
  expect(() => limiter.tryAcquireUpTo(count)).toThrow(InvariantError);
  expect(() => limiter.tryTake(count, 0)).toThrow(InvariantError);
  expect(() => limiter.onRefused(count)).toThrow(InvariantError);
  expect(() => limiter.pauseMs(count)).toThrow(InvariantError);
  await expect(limiter.acquire(count)).rejects.toThrow(InvariantError);
  await expect(limiter.acquireUpTo(count)).rejects.toThrow(`FleetLimiter is ${count}; use a whole`);
  expect(limiter.counts.requested).toBe(0);
  await limiter.leave();
});

test.each([-1, NaN, Infinity])("%s is no timeout", async (timeoutMs) => {
  const { limiter } = await setUp({ store: undefined, replicas: 1 });
  await expect(limiter.acquire(1, { timeoutMs })).rejects.toThrow(SluiceError);
  expect(limiter.counts.requested).toBe(0);
  await limiter.leave();
});

function never(): never {
  throw new Error("not for this");
}

test("without a limit every call gets what it asks for, no clock is read and no store is called", async () => {
  const timer = { now: never, sleep: never };
  const store = { sync: never, leave: never, setLimits: never, close: never };
  const { join } = newWorld({ store, runtime: { timer } });
  const { joined } = join("a", { rateLimit: undefined });
  const limiter = await joined;
  expect(limiter.tryAcquire(1e9)?.count).toBe(1e9);
  expect((await limiter.acquire(5)).deposit(5)).toBe(5);
  expect(limiter.tryTake(7, 0)).toBe(true);
  expect(limiter.pauseMs(7, 0)).toBe(0);
  await limiter.leave();
  expect(limiter.tryAcquire(1)).toBeUndefined();
});

test("an observer that throws disturbs no call, and one that takes tokens gets no more than there are", async () => {
  const world = newWorld({ pacing: "epoch" });
  let nested = 0;
  const joined = world.join("a", {
    onEvent: ({ type }) => {
      if (type === "step") nested += limiter?.tryAcquireUpTo(600)?.count ?? 0;
      throw new Error("wrong");
    },
  }).joined;
  let limiter: Awaited<typeof joined> | undefined;
  await world.timer.advance(15_000);
  limiter = await joined;
  for (let epoch = 1; epoch <= 5; epoch++) {
    await world.timer.advance(1000);
    const { granted } = limiter.counts;
    limiter.tryAcquireUpTo(600);
    limiter.tryAcquireUpTo(600);
    expect(limiter.counts.granted - granted).toBe(1000);
  }
  expect(nested).toBe(3000);
  await limiter.leave();
  await limiter.leave();
  expect(world.timer.sleeping).toBe(0);
});
