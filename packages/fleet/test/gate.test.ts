import { createGate, ThrottledError } from "@sluice/egress";
import type { RateSource } from "@sluice/egress";
import { SeededRandom } from "@sluice/core";
import { expect, test } from "vitest";
import type { FleetLimiter } from "../src/index.ts";
import { FaultyStore, newWorld, sum, takeAll } from "./fleet-world.ts";

type World = ReturnType<typeof newWorld>;

/** Gates in front of the limiters, with callers that never stop asking; answers the starts of each. */
function callThrough({ timer }: World, limiters: readonly RateSource[]) {
  const starts = limiters.map(() => 0);
  const gates = limiters.map((rate) =>
    createGate({ rate, maxWaiting: 100, runtime: { timer, random: new SeededRandom(1) } }),
  );
  const callers = gates.flatMap((gate, i) =>
    Array.from({ length: 20 }, async () => {
      for (;;)
        await gate.run(() => {
          starts[i] = (starts[i] ?? 0) + 1;
        });
    }),
  );
  const close = async (): Promise<void> => {
    for (const gate of gates) gate.close();
    await Promise.allSettled(callers);
  };
  return { starts, gates, close };
}

async function startsIn(world: World, starts: number[], ms: number): Promise<number[]> {
  const before = [...starts];
  await world.timer.advance(ms);
  return starts.map((count, i) => count - (before[i] ?? 0));
}

test.each(["smooth", "epoch"] as const)(
  "gates with limiters of one pool share its rate, %s",
  async (pacing) => {
    const world = newWorld({ pacing });
    const limiters = await world.joinAll(2);
    const { starts, gates, close } = callThrough(world, limiters);
    await world.timer.advance(1000);
    const got = await startsIn(world, starts, 3000);
    for (const each of got) {
      expect(each).toBeGreaterThanOrEqual(0.97 * 1500);
      expect(each).toBeLessThanOrEqual(1.05 * 1500);
    }
    expect(gates[0]?.why()?.reason).toBe("fleet-share");
    await close();
    await Promise.all(limiters.map((limiter) => limiter.leave()));
    expect(world.timer.sleeping).toBe(0);
  },
);

test("calls that wait in a gate until they are granted count once, however often the gate asks", async () => {
  const world = newWorld({ rateLimit: { max: 100, min: 100 } });
  const [limiter] = await world.joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  const gate = createGate({ rate: limiter, runtime: { timer: world.timer } });
  const calls = Array.from({ length: 500 }, () => gate.run(() => 1));
  await world.timer.advance(6000);
  await Promise.all(calls);
  expect(limiter.counts).toMatchObject({ requested: 500, granted: 500, refused: 0 });
  gate.close();
  await limiter.leave();
});

test("a call that a gate refuses for lack of tokens counts once as refused, one that it refuses for another reason not at all", async () => {
  const world = newWorld({ rateLimit: { max: 10, min: 10 } });
  const [limiter] = await world.joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  const runtime = { timer: world.timer, random: new SeededRandom(1) };
  const gate = createGate({ rate: limiter, runtime, maxWaiting: 2, concurrency: 5, busy: "off" });
  await takeAll(world.timer, [limiter], { ms: 500 });
  const before = { ...limiter.counts };
  const counted = () => [
    limiter.counts.requested - before.requested,
    limiter.counts.granted - before.granted,
    limiter.counts.refused - before.refused,
  ];
  expect(gate.tryAcquire().refused).toBe("fleet-share");
  const waiting = [gate.run(() => 1, { weight: 2 }), gate.run(() => 2)];
  await expect(gate.run(() => 3, { weight: 4 })).rejects.toThrow(ThrottledError);
  await expect(gate.run(() => 4, { deadlineMs: 10 })).rejects.toThrow(ThrottledError);
  expect(counted()).toEqual([6, 0, 6]);
  await world.timer.advance(1000);
  await Promise.all(waiting);
  expect(counted()).toEqual([9, 3, 6]);
  gate.pause(1000);
  expect(gate.tryAcquire().refused).toBe("retry-after");
  expect(counted()).toEqual([9, 3, 6]);
  gate.close();
  await limiter.leave();
});

test("a shadow gate refuses nothing, so nothing counts as refused", async () => {
  const world = newWorld({ rateLimit: { max: 10, min: 10 } });
  const [limiter] = await world.joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  const events: string[] = [];
  const gate = createGate({
    rate: limiter,
    runtime: { timer: world.timer },
    shadow: true,
    observers: [({ type }) => void events.push(type)],
  });
  for (let i = 0; i < 10; i++) await gate.run(() => 1, { wait: false });
  expect(events.filter((type) => type === "refused").length).toBeGreaterThan(5);
  expect(limiter.counts.refused).toBe(0);
  gate.close();
  await limiter.leave();
});

test("a member whose gate waits for tokens has nearly the whole ceiling of an idle pool within 2.5 s", async () => {
  const world = newWorld();
  const limiters = await world.joinAll(10);
  // Tokens must not come at the very instant of a sync: no call waits for its token then.
  await world.timer.advance(3);
  const { starts, close } = callThrough(world, limiters.slice(0, 1));
  await world.timer.advance(2500);
  expect(sum(await startsIn(world, starts, 2000))).toBeGreaterThanOrEqual(0.95 * 2000);
  await close();
  await Promise.all(limiters.map((limiter) => limiter.leave()));
});

test.each(["smooth", "epoch"] as const)(
  "calls heavier than anything that can be saved up pay in full, %s",
  async (pacing) => {
    const world = newWorld({ pacing, rateLimit: { max: 100, min: 100 } });
    const [limiter] = await world.joinAll(1);
    if (limiter === undefined) throw new Error("no member joined");
    const gate = createGate({ rate: limiter, runtime: { timer: world.timer } });
    let weight = 0;
    const over = new AbortController();
    const caller = (async () => {
      while (!over.signal.aborted)
        await gate.run(() => (weight += 250), { weight: 250 }).catch(() => {});
    })();
    await world.timer.advance(30_000);
    expect(weight).toBeGreaterThan(2500);
    expect(weight).toBeLessThanOrEqual(3000 + 500);
    expect(limiter.counts.granted).toBe(weight);
    over.abort();
    gate.close();
    await limiter.leave();
    await caller;
  },
);

test.each(["smooth", "epoch"] as const)(
  "a cost that is settled afterwards counts as settled, %s",
  async (pacing) => {
    const world = newWorld({ pacing, rateLimit: { max: 1000, min: 1000 } });
    const [limiter] = await world.joinAll(1);
    if (limiter === undefined) throw new Error("no member joined");
    const rates = { requests: "1000/s", tokens: limiter };
    const gate = createGate({ rates, runtime: { timer: world.timer } });
    let used = 0;
    const over = new AbortController();
    const caller = async (estimate: number, actual: number): Promise<void> => {
      while (!over.signal.aborted) {
        const { permit } = await gate.acquire({ cost: { tokens: estimate } });
        await world.timer.sleep(20);
        permit?.settle({ tokens: actual });
        permit?.end("ok");
        used += actual;
      }
    };
    const callers = [caller(20, 100), caller(100, 20)].map((each) => each.catch(() => {}));
    await world.timer.advance(20_000);
    expect(used).toBeGreaterThan(0.9 * 20_000);
    expect(used).toBeLessThanOrEqual(1.05 * 20_000 + 200);
    over.abort();
    gate.close();
    await limiter.leave();
    await world.timer.advance(100);
    await Promise.all(callers);
  },
);

test("a gate learns why tokens are missing, and is woken when the store comes back", async () => {
  const world = newWorld({ onStoreLoss: "closed" });
  const link = new FaultyStore(world.store);
  const [limiter] = await world.joinAll(1, { store: link });
  if (limiter === undefined) throw new Error("no member joined");
  const gate = createGate({ rate: limiter, runtime: { timer: world.timer } });
  link.fault = "down";
  await world.timer.advance(6000);
  let doneAtMs = 0;
  const waiting = gate.run(() => (doneAtMs = world.timer.now()));
  expect(gate.why()?.reason).toBe("store-lost");
  await expect(gate.run(() => 1, { wait: false })).rejects.toThrow(ThrottledError);
  link.fault = "none";
  await world.timer.advance(6500);
  await waiting;
  const { membership } = limiter.state();
  expect(membership?.standing).toBe("member");
  expect(doneAtMs).toBeGreaterThan(0);
  gate.close();
  await limiter.leave();
  expect(world.timer.sleeping).toBe(0);
});

test("the pause that a gate gets ends when its tokens have come, after those of the calls that wait", async () => {
  const world = newWorld({ rateLimit: { max: 100, min: 100 } });
  const [limiter] = await world.joinAll(1);
  if (limiter === undefined) throw new Error("no member joined");
  await takeAll(world.timer, [limiter], { ms: 1000 });
  const nowMs = world.timer.now();
  expect(limiter.pauseMs(1, nowMs)).toBeGreaterThan(0);
  expect(limiter.pauseMs(1, nowMs)).toBeLessThanOrEqual(10);
  expect(limiter.pauseMs(50, nowMs)).toBeGreaterThan(480);
  expect(limiter.pauseMs(50, nowMs)).toBeLessThanOrEqual(500);
  const rate: RateSource = limiter satisfies FleetLimiter;
  expect(rate.countMax).toBe(4);
  await limiter.leave();
  expect(limiter.tryTake(1, nowMs)).toBe(false);
  expect(limiter.pauseMs(1, nowMs)).toBe(1000);
});
