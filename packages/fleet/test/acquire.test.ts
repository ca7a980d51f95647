import { InvariantError, SluiceError } from "@sluice/core";
import type { Grant } from "@sluice/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FaultyStore, newWorld, sum } from "./fleet-world.ts";

/** One member, alone in its pool, with all of the ceiling. */
async function setUp(options: Parameters<typeof newWorld>[0] = {}) {
  const world = newWorld(options);
  const [limiter] = await world.joinAll(1);
  if (limiter === undefined) throw new Error("nobody joined");
  return { ...world, limiter };
}

test("a call gets what is there, up to what it asked for, and why it is less", async () => {
  const { timer, limiter } = await setUp({ pacing: "epoch" });
  await timer.advance(1000);
  const all = await limiter.acquire(600);
  expect([all.count, all.reason]).toEqual([600, undefined]);
  const part = await limiter.acquire(600, { timeoutMs: 1000 });
  expect([part.count, part.reason]).toEqual([400, "fleet-share"]);
  const none = limiter.tryAcquire(1);
  expect([none.count, none.reason]).toEqual([0, "fleet-share"]);
  expect((await limiter.acquire(0)).count).toBe(0);
  expect((await limiter.acquire(1, { timeoutMs: 0 })).count).toBe(0);
  await limiter.leave();
  expect(timer.sleeping).toBe(0);
});

test("those who wait are served in the order in which they came, and nobody overtakes them", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 10, min: 10 } });
  limiter.tryAcquire(100);
  const order: number[] = [];
  const calls = [3, 1, 2].map(async (count, i) => {
    const grant = await limiter.acquire(count);
    order.push(i);
    return grant.count;
  });
  for (let i = 0; i < 40; i++) {
    await timer.advance(10);
    if (limiter.waiting > 0) expect(limiter.tryAcquire(1).count).toBe(0);
  }
  expect(await Promise.all(calls)).toEqual([1, 1, 1]);
  expect(order).toEqual([0, 1, 2]);
  await limiter.leave();
});

test("a wait ends at its timeout, when it is aborted, or when the limiter leaves, and is told so", async () => {
  const { timer, limiter } = await setUp({ rateLimit: { max: 1, min: 1 }, pacing: "epoch" });
  await timer.advance(1000);
  expect(limiter.tryAcquire(1).count).toBe(1);
  const controller = new AbortController();
  const asked = timer.now();
  const late = limiter.acquire(5, { timeoutMs: 100 });
  const aborted = limiter.acquire(5, { signal: controller.signal });
  aborted.catch(() => {});
  const left = [limiter.acquire(5), limiter.acquire(5, { timeoutMs: 1e6 })];
  expect(limiter.waiting).toBe(4);
  await timer.advance(150);
  expect([(await late).count, (await late).reason]).toEqual([0, "fleet-share"]);
  controller.abort(new Error("enough"));
  await expect(aborted).rejects.toThrow("enough");
  await limiter.leave();
  for (const grant of await Promise.all(left))
    expect([grant.count, grant.reason]).toEqual([0, "fleet-share"]);
  expect(limiter.counts).toMatchObject({ waits: 4, granted: 1, refused: 20, requested: 21 });
  expect(limiter.counts.waitedMs).toBe(100 + 3 * (timer.now() - asked));
  await expect(limiter.acquire(1, { signal: controller.signal })).rejects.toThrow("enough");
  expect((await limiter.acquire(1)).count).toBe(0);
  expect(limiter.tryAcquire(1).count).toBe(0);
  expect(timer.sleeping).toBe(0);
});

test("whoever leaves again waits for the first to have left", async () => {
  const world = newWorld();
  const link = new FaultyStore(world.store);
  const [limiter] = await world.joinAll(1, { store: link });
  link.fault = "hanging";
  let left = 0;
  for (let i = 0; i < 2; i++) void limiter?.leave().then(() => left++);
  await world.timer.advance(249);
  expect(left).toBe(0);
  await world.timer.advance(1);
  expect(left).toBe(2);
  expect(world.timer.sleeping).toBe(0);
});

test("nothing sleeps on after the last who waited has gone", async () => {
  const { timer, limiter } = await setUp({
    replicas: 1,
    rateLimit: { max: 1, min: 1 },
    store: undefined,
  });
  limiter.tryAcquire(9);
  const controller = new AbortController();
  const calls = [
    limiter.acquire(1, { timeoutMs: 5 }),
    limiter.acquire(1, { signal: controller.signal }),
  ];
  await timer.advance(6);
  controller.abort();
  await Promise.allSettled(calls);
  await timer.advance(0);
  expect(timer.sleeping).toBe(0);
  await limiter.leave();
});

test("no more may wait than were allowed to; further ones are told at once", async () => {
  const { timer, limiter } = await setUp({ maxWaiting: 2, rateLimit: { max: 1, min: 1 } });
  limiter.tryAcquire(9);
  const waiting = [limiter.acquire(1), limiter.acquire(1)];
  expect((await limiter.acquire(1)).count).toBe(0);
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
      const grant = await limiter.acquire(7);
      used += grant.count;
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
        const grant = limiter.tryAcquire(ask);
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

test("what comes back goes to whoever waits, at once", async () => {
  const { timer, limiter } = await setUp({ pacing: "epoch" });
  await timer.advance(1000);
  const grant = await limiter.acquire(1000);
  const waiting = limiter.acquire(200);
  await timer.advance(1);
  expect(limiter.waiting).toBe(1);
  expect(grant.deposit({ unused: 120, dropped: 7 })).toBe(127);
  expect(limiter.tryAcquire(1).count).toBe(0);
  expect(limiter.tryTake(1, timer.now())).toBe(false);
  await timer.advance(0);
  expect((await waiting).count).toBe(127);
  expect(limiter.counts).toMatchObject({ deposited: 120, refunded: 7 });
  await limiter.leave();
});

test.each([-1, 0.5, NaN, Infinity, 2 ** 60])("%s is no count of tokens", async (count) => {
  const { limiter } = await setUp({ store: undefined, replicas: 1 });
  expect(() => limiter.tryAcquire(count)).toThrow(InvariantError);
  await expect(limiter.acquire(count)).rejects.toThrow(InvariantError);
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

test("without a limit everybody gets what they ask for, no clock is read and no store is called", async () => {
  const timer = { now: never, sleep: never };
  const store = { sync: never, leave: never, setLimits: never, close: never };
  const { join } = newWorld({ store, runtime: { timer } });
  const { joined } = join("a", { rateLimit: undefined });
  const limiter = await joined;
  expect(limiter.tryAcquire(1e9).count).toBe(1e9);
  expect((await limiter.acquire(5)).deposit(5)).toBe(5);
  expect(limiter.tryTake(7, 0)).toBe(true);
  expect(limiter.pauseMs(7, 0)).toBe(0);
  await limiter.leave();
  expect(limiter.tryAcquire(1).count).toBe(0);
});

test("what an observer throws is lost, and one that asks for tokens gets no more than there are", async () => {
  const world = newWorld({ pacing: "epoch" });
  let nested = 0;
  const joined = world.join("a", {
    onEvent: ({ type }) => {
      if (type === "step") nested += limiter?.tryAcquire(600).count ?? 0;
      throw new Error("wrong");
    },
  }).joined;
  let limiter: Awaited<typeof joined> | undefined;
  await world.timer.advance(15_000);
  limiter = await joined;
  for (let epoch = 1; epoch <= 5; epoch++) {
    await world.timer.advance(1000);
    const { granted } = limiter.counts;
    limiter.tryAcquire(600);
    limiter.tryAcquire(600);
    expect(limiter.counts.granted - granted).toBe(1000);
  }
  expect(nested).toBe(3000);
  await limiter.leave();
  await limiter.leave();
  expect(world.timer.sleeping).toBe(0);
});
