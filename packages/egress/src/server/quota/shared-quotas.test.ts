import { MemoryQuotaStore } from "@sluice/core";
import type { QuotaReply, QuotaRequest, QuotaStore, Timer } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createInboundLimiter } from "../inbound-limiter.ts";
import type { InboundDecision, InboundLimiter } from "../inbound-limiter.ts";
import type { InboundLimiterOptions } from "../inbound-options.ts";
import type { InboundEvent } from "../observe/event.ts";

/** A store as over a network: each way takes time, and it can be lost. */
class RemoteStore implements QuotaStore {
  readonly #store: MemoryQuotaStore;
  readonly #timer: VirtualTimer;
  calls = 0;
  isLost = false;
  /** Of each way. */
  delayMs = 0.5;

  constructor(timer: VirtualTimer) {
    this.#timer = timer;
    this.#store = new MemoryQuotaStore(timer);
  }

  async take(request: QuotaRequest): Promise<QuotaReply> {
    this.calls++;
    await this.#timer.sleep(this.delayMs);
    if (this.isLost) throw new Error("no route to host");
    const reply = this.#store.takeNow(request);
    await this.#timer.sleep(this.delayMs);
    return reply;
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}

function setUp(processes: number, options: InboundLimiterOptions) {
  const timer = new VirtualTimer();
  const store = new RemoteStore(timer);
  const events: InboundEvent[] = [];
  const limiters = Array.from({ length: processes }, () =>
    createInboundLimiter({
      store,
      clock: timer,
      observers: [(event) => events.push(event)],
      ...options,
    }),
  );
  return { timer, store, limiters, events };
}

interface Load {
  readonly key: string;
  /** Of each process. */
  readonly perSecond: number;
  readonly seconds: number;
}

/** Sends to every process, and answers when requests were admitted. */
async function send(
  timer: VirtualTimer,
  limiters: readonly InboundLimiter[],
  { key, perSecond, seconds }: Load,
): Promise<number[]> {
  const admitted: number[] = [];
  const stepMs = 1000 / perSecond / limiters.length;
  let asked = 0;
  const clients = (async () => {
    const pending: Promise<void>[] = [];
    for (let atMs = 0; atMs < seconds * 1000; atMs += stepMs) {
      const limiter = limiters[asked++ % limiters.length];
      const ask = async (): Promise<void> => {
        if ((await limiter?.admit(key))?.admitted === true) admitted.push(timer.now());
      };
      pending.push(ask());
      await timer.sleep(stepMs);
    }
    await Promise.all(pending);
  })();
  await timer.advance(seconds * 1000 + 100);
  await clients;
  return admitted;
}

function askOften(
  limiter: InboundLimiter | undefined,
  times: number,
): Promise<(InboundDecision | undefined)[]> {
  const ask = async (): Promise<InboundDecision | undefined> => limiter?.admit("a");
  return Promise.all(Array.from({ length: times }, ask));
}

test.each([
  { rate: "1000/s", perSecond: 1000, seconds: 4 },
  { rate: "1000/s", perSecond: 500, seconds: 6 },
  { rate: { limit: 300, periodMs: 1000, burst: 100 }, perSecond: 500, seconds: 6 },
  { rate: "3000/min", perSecond: 400, seconds: 3 },
])(
  "four processes at $perSecond/s each with $rate: never above, at least 0.99 of it, at most 0.05 calls per request",
  async ({ rate, perSecond, seconds }) => {
    const { timer, store, limiters } = setUp(4, { rate });
    const admitted = await send(timer, limiters, { key: "hot", perSecond, seconds });
    const { burst, perMs } =
      rate === "1000/s"
        ? { burst: 1000, perMs: 1 }
        : rate === "3000/min"
          ? { burst: 3000, perMs: 0.05 }
          : { burst: 100, perMs: 0.3 };
    const most = burst + seconds * 1000 * perMs;
    expect(admitted.length).toBeLessThanOrEqual(most + 1);
    expect(admitted.length).toBeGreaterThanOrEqual(0.99 * most);
    expect(store.calls / (4 * perSecond * seconds)).toBeLessThanOrEqual(0.05);
  },
);

test("a store that takes longer to answer than requests take to come is not asked more often", async () => {
  const { timer, store, limiters } = setUp(4, { rate: "600/s" });
  store.delayMs = 5;
  const admitted = await send(timer, limiters, { key: "hot", perSecond: 300, seconds: 5 });
  expect(admitted.length).toBeLessThanOrEqual(3601);
  expect(admitted.length).toBeGreaterThanOrEqual(0.99 * 3600);
  expect(store.calls / 6000).toBeLessThanOrEqual(0.05);
});

test("at little more than its rate a full quota loses at most what four processes have leased and used", async () => {
  const { timer, limiters } = setUp(4, { rate: "1000/s" });
  const admitted = await send(timer, limiters, { key: "hot", perSecond: 300, seconds: 6 });
  expect(admitted.length).toBeLessThanOrEqual(7001);
  expect(admitted.length).toBeGreaterThanOrEqual(7000 - 4 * 40);
});

test("a hot key below its quota is never refused", async () => {
  const { timer, store, limiters } = setUp(4, { rate: "1000/s" });
  const admitted = await send(timer, limiters, { key: "hot", perSecond: 200, seconds: 5 });
  expect(admitted.length).toBe(4000);
  expect(store.calls / 4000).toBeLessThanOrEqual(0.05);
});

test("a cold key asks the store once per request, and is exact", async () => {
  const { timer, store, limiters } = setUp(4, { rate: "5/min" });
  const verdicts: boolean[] = [];
  for (let i = 0; i < 8; i++) {
    const asked = limiters[i % 4]?.admit("cold");
    await timer.advance(1);
    verdicts.push((await asked)?.admitted === true);
    await timer.advance(999);
  }
  expect(verdicts).toEqual([true, true, true, true, true, false, false, false]);
  expect(store.calls).toBe(8);
});

test("a request in a limiter with a lease is answered at once, without a promise", async () => {
  const { timer, limiters, store } = setUp(1, { rate: "1000/s" });
  await send(timer, limiters, { key: "hot", perSecond: 100, seconds: 1 });
  const before = store.calls;
  expect(limiters[0]?.admit("hot")).toMatchObject({ admitted: true });
  expect(store.calls).toBe(before);
});

test("an unused lease is returned before it ends", async () => {
  const { timer, limiters } = setUp(2, { rate: { limit: 60, periodMs: 60_000, burst: 100 } });
  const [busy, other] = limiters;
  await send(timer, busy === undefined ? [] : [busy], { key: "a", perSecond: 40, seconds: 1 });
  await timer.advance(2000);
  // The busy process used 40, and three more have come: all the rest is the other's.
  const asked = askOften(other, 70);
  await timer.advance(10);
  expect((await asked).filter((decision) => decision?.admitted === true)).toHaveLength(63);
});

test("close returns leases at once", async () => {
  const { timer, limiters } = setUp(2, { rate: { limit: 1, periodMs: 60_000, burst: 100 } });
  const [busy, other] = limiters;
  await send(timer, busy === undefined ? [] : [busy], { key: "a", perSecond: 40, seconds: 0.5 });
  const closed = busy?.close();
  await timer.advance(1);
  await closed;
  const asked = askOften(other, 90);
  await timer.advance(10);
  expect((await asked).filter((decision) => decision?.admitted === true)).toHaveLength(80);
});

test("a process that dies costs what it had leased, once", async () => {
  const { timer, limiters } = setUp(2, { rate: "100/s" });
  const [dying, other] = limiters;
  await send(timer, dying === undefined ? [] : [dying], { key: "a", perSecond: 60, seconds: 1 });
  // From here on nothing is heard of it.
  await timer.advance(3500);
  const asked = askOften(other, 120);
  await timer.advance(10);
  expect((await asked).filter((decision) => decision?.admitted === true)).toHaveLength(100);
});

test("whatever the load, no time has more than its burst and rate", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 5, max: 400 }),
      fc.integer({ min: 1, max: 200 }),
      fc.integer({ min: 5, max: 400 }),
      async (processes, limit, burst, perSecond) => {
        const { timer, limiters } = setUp(processes, { rate: { limit, periodMs: 1000, burst } });
        const admitted = await send(timer, limiters, { key: "a", perSecond, seconds: 2 });
        // A verdict takes up to two round trips to come: by so much later are some counted than charged.
        const lateMs = 4;
        for (let from = 0; from < admitted.length; from += 7)
          for (let to = from; to < admitted.length; to += 5) {
            const ms = (admitted[to] ?? 0) - (admitted[from] ?? 0) + lateMs;
            expect(to - from + 1).toBeLessThanOrEqual(burst + (limit * ms) / 1000 + 1);
          }
      },
    ),
    { numRuns: 25 },
  );
});

test("a lost store is told once, requests go on with this process's share, and the store is found again", async () => {
  const { timer, store, limiters, events } = setUp(1, { rate: "160/min", processes: 16 });
  const [limiter] = limiters;
  store.isLost = true;
  const verdicts: boolean[] = [];
  for (let i = 0; i < 12; i++) {
    const asked = limiter?.admit("a");
    await timer.advance(1);
    verdicts.push((await asked)?.admitted === true);
  }
  expect(verdicts.filter(Boolean)).toHaveLength(10);
  expect(events.filter(({ type }) => type === "store-lost")).toHaveLength(1);
  expect(store.calls).toBe(1);
  store.isLost = false;
  await timer.advance(500);
  void limiter?.admit("a");
  await timer.advance(5);
  expect(events.at(-1)).toMatchObject({ type: "store-back", lostMs: expect.any(Number) as number });
  const asked = limiter?.admit("a");
  await timer.advance(5);
  expect(await asked).toMatchObject({ admitted: true });
});

test.each([
  { onStoreLoss: "closed" as const, admitted: false, status: 503, reason: "store-lost" },
  { onStoreLoss: "open" as const, admitted: true },
])("while the store is lost, $onStoreLoss", async ({ onStoreLoss, ...expected }) => {
  const { timer, store, limiters } = setUp(1, { rate: "1/h", onStoreLoss });
  store.isLost = true;
  for (let i = 0; i < 3; i++) {
    const asked = limiters[0]?.admit("a");
    await timer.advance(1);
    expect(await asked).toMatchObject(expected);
  }
});

test("keys beyond the bound are forgotten, and still limited by the store", async () => {
  const { timer, limiters } = setUp(1, { rate: "2/h", maxKeys: 10 });
  const [limiter] = limiters;
  const ask = async (key: string): Promise<boolean> => {
    const asked = limiter?.admit(key);
    await timer.advance(2);
    return (await asked)?.admitted === true;
  };
  for (let i = 0; i < 100; i++) await ask(`key ${i}`);
  expect(limiter?.keys).toBe(10);
  expect(await ask("key 0")).toBe(true);
  expect(await ask("key 0")).toBe(false);
});

test("a request that is charged and finds no permit is not counted", async () => {
  const { timer, limiters } = setUp(1, {
    rate: "1000/s",
    concurrency: { limit: 1, maxWaitMs: 100 },
  });
  const [limiter] = limiters;
  const first = limiter?.admit("a");
  const second = limiter?.admit("a");
  await timer.advance(200);
  expect(await first).toMatchObject({ admitted: true });
  expect(await second).toMatchObject({ admitted: false, status: 503, reason: "concurrency" });
});

test("a request of absurd cost is its key's own debt: the store is not taken for lost", async () => {
  const { timer, limiters, events } = setUp(1, { rate: { rate: "100/s", burst: 5_000_000_000 } });
  const [limiter] = limiters;
  const costs = [Number.MAX_SAFE_INTEGER, 900_000_000, 900_000_000, 900_000_000, 900_000_000];
  const asked = [...costs, ...costs].map(async (cost) => limiter?.admit("evil", cost));
  await timer.advance(100);
  const decisions = await Promise.all(asked);
  // 1e9 and four times 9e8 fit the burst of 5e9.
  const admitted = decisions.map((decision) => decision?.admitted);
  expect(admitted).toEqual([...costs.map(() => true), ...costs.map(() => false)]);
  expect(events.filter(({ type }) => type === "store-lost")).toEqual([]);
});

test("a reply that comes after the end of its lease serves the requests that waited for it, and none asks twice", async () => {
  const virtual = new VirtualTimer();
  const store = new RemoteStore(virtual);
  store.delayMs = 600;
  // A busy machine: time passes between any two lines of a program.
  let looks = 0;
  const timer: Timer = {
    now: () => virtual.now() + 2 * looks++,
    sleep: (ms, signal) => virtual.sleep(ms, signal),
  };
  const limiter = createInboundLimiter({ rate: "100/s", store, clock: timer });
  const asked = askOften(limiter, 5);
  await virtual.advance(5000);
  expect((await asked).every((decision) => decision?.admitted === true)).toBe(true);
  // The first request asks alone; those that come during its call share the next.
  expect(store.calls).toBe(2);
});
