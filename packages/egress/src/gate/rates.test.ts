import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { describe, expect, test } from "vitest";
import type { GateEvent } from "./event/event.ts";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";

function setUp(options: GateOptions) {
  const timer = new VirtualTimer();
  const events: GateEvent[] = [];
  const gate = createGate({
    ...options,
    observers: (event) => events.push(event),
    runtime: { timer, random: new SeededRandom(1) },
  });
  return { timer, events, gate };
}

/** When each of `count` calls started, by 10 s. */
async function startsOf(options: GateOptions, count: number): Promise<number[]> {
  const { gate, timer } = setUp(options);
  const starts: number[] = [];
  for (let i = 0; i < count; i++)
    gate.run(() => starts.push(Math.round(timer.now()))).catch(() => undefined);
  await timer.advance(10_000);
  gate.close();
  return starts;
}

test('"600/min" sends a call each 100 ms, and not 600 at once', async () => {
  const starts = await startsOf({ rate: "600/min" }, 600);
  expect(starts.slice(0, 4)).toEqual([0, 50, 150, 250]);
  expect(starts.length).toBe(101);
});

test("a burst is sent at once if it is asked for", async () => {
  expect(await startsOf({ rate: { rate: "600/min", burst: 3 } }, 5)).toEqual([0, 0, 0, 100, 200]);
});

test("a late timer costs nothing: up to 50 ms are made up for", async () => {
  const { gate, timer } = setUp({ rate: "100/s" });
  for (let i = 0; i < 100; i++) gate.tryAcquire();
  await timer.advance(40);
  let started = 0;
  while (gate.tryAcquire().permit !== undefined) started++;
  expect(started).toBe(4);
});

describe("several rates", () => {
  test("hold a call until all admit it, and charge none before", async () => {
    const { gate, timer } = setUp({
      rates: { requests: { rate: "10/s", burst: 10 }, tokens: { rate: "100/s", burst: 100 } },
    });
    await gate.run(() => 1, { cost: { tokens: 100 } });
    const held = gate.tryAcquire({ cost: { tokens: 50 } });
    expect(held).toMatchObject({ refused: "rate", rate: "tokens", retryAfterMs: 500 });
    // The requests are still there: 9 more without tokens.
    for (let i = 0; i < 9; i++)
      expect(gate.tryAcquire({ cost: { tokens: 0 } }).permit, `${i}`).toBeDefined();
    expect(gate.tryAcquire({ cost: { tokens: 0 } })).toMatchObject({ rate: "requests" });
    await timer.advance(500);
    expect(gate.tryAcquire({ cost: { tokens: 50 } }).permit).toBeDefined();
  });

  test("cost the weight where the call names no cost", () => {
    const { gate } = setUp({
      rates: { requests: { rate: "10/s", burst: 10 }, tokens: { rate: "10/s", burst: 10 } },
    });
    gate.tryAcquire({ weight: 4, cost: { tokens: 1 } });
    gate.tryAcquire({ weight: 6, cost: { tokens: 1 } });
    expect(gate.tryAcquire({ cost: { tokens: 1 } })).toMatchObject({ rate: "requests" });
    expect(gate.tryAcquire({ cost: { requests: 0, tokens: 8 } }).permit).toBeDefined();
    expect(gate.inFlight).toBe(11);
  });

  test("are named by why, by refusals and by events", async () => {
    const { gate, timer, events } = setUp({ name: "llm", rates: { tokens: "100/s" } });
    await gate.run(() => 1, { cost: { tokens: 500 } });
    const late = gate.run(() => 1, { deadlineMs: 1000 });
    await expect(late).rejects.toMatchObject({
      reason: "rate",
      rate: "tokens",
      retryAfterMs: 4950,
    });
    expect(gate.why()).toMatchObject({ reason: "rate", rate: "tokens" });
    expect(events.at(-1)).toMatchObject({ type: "refused", rate: "tokens" });
    const held = gate.run(() => 1);
    expect(events.at(-1)).toMatchObject({ type: "held", rate: "tokens" });
    await timer.advance(5000);
    await held;
  });

  test("keep the order: a cheap call does not overtake a dear one of the same priority", async () => {
    const { gate, timer } = setUp({ rates: { tokens: { rate: "100/s", burst: 100 } } });
    const started: string[] = [];
    for (const [name, tokens] of Object.entries({ first: 100, dear: 90, cheap: 1 }))
      void gate.run(() => started.push(name), { cost: { tokens } });
    await timer.advance(800);
    expect(started).toEqual(["first"]);
    await timer.advance(200);
    expect(started).toEqual(["first", "dear", "cheap"]);
  });

  test("serve a call that costs more than the burst, and let the next wait for the debt", async () => {
    const { gate, timer } = setUp({ rates: { tokens: { rate: "100/s", burst: 10 } } });
    const starts: number[] = [];
    for (let i = 0; i < 3; i++)
      void gate.run(() => starts.push(Math.round(timer.now())), { cost: { tokens: 1000 } });
    await timer.advance(30_000);
    expect(starts).toEqual([0, 10_000, 20_000]);
  });

  test("give tokens back to a rate of another's making when a second rate refuses", () => {
    let tokens = 10;
    const shared = {
      reason: "fleet-share",
      tryTake: (count: number) => {
        if (tokens < count) return false;
        tokens -= count;
        return true;
      },
      adjust: (count: number) => {
        tokens -= count;
      },
      pauseMs: (count: number) => (tokens < count ? 100 : 0),
    } as const;
    // It says that tokens are there and has none: another thread was faster.
    const racing = { reason: "rate", tryTake: () => false, pauseMs: () => 0 } as const;
    const { gate } = setUp({ rates: { shared, racing } });
    expect(gate.tryAcquire({ cost: { shared: 3 } }).permit).toBeUndefined();
    expect(tokens).toBe(10);
  });
});

describe("the cost of a call", () => {
  test("is settled by costOf, at once or later; if that fails the estimate stands", async () => {
    const { gate, timer } = setUp({ rates: { tokens: { rate: "100/s", burst: 100 } } });
    const leftAfter = async (costOf: (result: unknown) => object | undefined): Promise<number> => {
      await timer.advance(100_000);
      await gate.run(() => "result", {
        cost: { tokens: 100 },
        costOf: costOf as () => undefined,
      });
      await timer.advance(0);
      let left = 0;
      while (gate.tryAcquire({ cost: { tokens: 1 } }).permit !== undefined) left++;
      return left;
    };
    expect(await leftAfter(() => ({ tokens: 40 }))).toBe(60);
    expect(await leftAfter(() => Promise.resolve({ tokens: 90 }))).toBe(10);
    expect(await leftAfter(() => undefined)).toBe(0);
    expect(await leftAfter(() => Promise.reject(new Error("no JSON")))).toBe(0);
    expect(
      await leftAfter(() => {
        throw new Error("no usage");
      }),
    ).toBe(0);
  });

  test("may be told by the gate for all calls, also those with a deadline", async () => {
    const { gate } = setUp({
      rates: { tokens: { rate: "100/s", burst: 100 } },
      costOf: (result) => ({ tokens: result as number }),
    });
    await gate.run(() => 30, { cost: { tokens: 100 }, deadlineMs: 1000 });
    await gate.run(() => 30, { cost: { tokens: 70 } });
    expect(gate.tryAcquire({ cost: { tokens: 41 } }).permit).toBeUndefined();
    expect(gate.tryAcquire({ cost: { tokens: 40 } }).permit).toBeDefined();
  });

  test.each([
    [{ tokns: 1 }, /cost names the rate "tokns"; the gate has requests, tokens/],
    [{ tokens: 0.5 }, /cost\.tokens is 0\.5; it must be a whole number/],
    [{ tokens: -1 }, /must be a whole number/],
    [5 as never, /write it as \{ tokens: 1200 \}/],
  ])("%j is refused", async (cost, message) => {
    const { gate } = setUp({ rates: { requests: "1/s", tokens: "1/s" } });
    await expect(gate.run(() => 1, { cost })).rejects.toThrow(message);
    expect(gate.inFlight).toBe(0);
  });

  test("that is settled to far less refuses no call with a deadline before its time", async () => {
    const { gate, timer } = setUp({ rates: { requests: "100/s", tokens: "1000/s" } });
    const options = {
      cost: { tokens: 4000 },
      costOf: () => ({ tokens: 100 }),
      deadlineMs: 10_000,
    };
    const calls = Array.from({ length: 20 }, () => gate.run(() => timer.sleep(10), options));
    const served = Promise.all(calls);
    await timer.advance(10_000);
    expect(await served).toHaveLength(20);
    // Without costOf the cost is known, and a call that cannot start in time is refused at once.
    void gate.run(() => 1, { cost: { tokens: 20_000 } });
    const inVain = gate.run(() => 1, { cost: { tokens: 1 }, deadlineMs: 10_000 });
    await expect(inVain).rejects.toMatchObject({ refusedAt: "in-vain", rate: "tokens" });
  });

  test("is refused by a gate without rates", () => {
    const { gate } = setUp({});
    expect(() => gate.tryAcquire({ cost: { tokens: 1 } })).toThrow(/the gate has none: set rates/);
    expect(() => gate.tryAcquire().permit?.settle({ tokens: 1 })).toThrow(/set rates/);
  });
});

/** A refusal that says of one rate that nothing is left. */
const hinted = (rate: string) => ({
  outcome: "busy" as const,
  retriable: "safe" as const,
  hints: [{ rate, remaining: 0, resetMs: 1000 }],
});

describe("a pause of one rate", () => {
  test("holds only calls that cost something there", async () => {
    const { gate, timer, events } = setUp({ rates: { requests: "100/s", tokens: "1000/s" } });
    gate.pause(1000, { rate: "tokens" });
    expect(events.at(-1)).toMatchObject({ type: "paused", rate: "tokens" });
    expect(gate.tryAcquire({ cost: { tokens: 0 } }).permit).toBeDefined();
    expect(gate.tryAcquire()).toMatchObject({ refused: "retry-after", rate: "tokens" });
    const held = gate.run(() => timer.now());
    await timer.advance(1200);
    expect(await held).toBeGreaterThanOrEqual(1000);
  });

  test("comes from a hint that names it; any other hint is for all calls", async () => {
    const { gate, timer } = setUp({
      rates: { requests: "1000/s", tokens: "1000/s" },
      busy: "off",
      classify: (settled) => ("value" in settled ? hinted(String(settled.value)) : undefined),
    });
    await gate.run(() => "tokens");
    expect(gate.pausedForMs).toBe(0);
    expect(gate.tryAcquire({ cost: { tokens: 0 } }).permit).toBeDefined();
    await timer.advance(2000);
    await gate.run(() => "images");
    expect(gate.pausedForMs).toBeGreaterThanOrEqual(1000);
    gate.resume();
    expect(gate.pausedForMs).toBe(0);
  });

  test.each([5000, 31_536_000_000, 900_000_000_000])(
    "of %i ms is over after resume: the rate has its tokens again",
    async (pauseMs) => {
      const { gate, timer } = setUp({ rates: { requests: "10/s", tokens: "1000/s" } });
      gate.pause(pauseMs / 2, { rate: "requests" });
      gate.pause(pauseMs, { rate: "requests" });
      await timer.advance(1000);
      gate.resume({ rate: "requests" });
      const starts: number[] = [];
      for (let i = 0; i < 3; i++) void gate.run(() => starts.push(Math.round(timer.now())));
      await timer.advance(1000);
      expect(starts).toEqual([1100, 1200, 1300]);
    },
  );

  test("of a rate that the gate does not have is an error", () => {
    const { gate } = setUp({ rates: { tokens: "1/s" } });
    expect(() => gate.pause(1, { rate: "token" })).toThrow(/rate is "token"; the gate has tokens/);
  });
});

describe("a pause that lasts longer than maxPauseMs", () => {
  test("refuses calls, those in the queue as well, and none is sent early", async () => {
    const { gate, timer } = setUp({ maxPauseMs: 60_000 });
    const starts: number[] = [];
    gate.pause(50_000);
    const inQueue = gate.run(() => starts.push(timer.now()));
    gate.pause(3_600_000);
    await expect(inQueue).rejects.toMatchObject({ reason: "retry-after", refusedAt: "max-pause" });
    const late = gate.run(() => 1);
    await expect(late).rejects.toThrow(/longer than maxPauseMs \(60000\)/);
    await expect(late).rejects.toMatchObject({ retryAfterMs: gate.pausedForMs });
    await timer.advance(gate.pausedForMs - 30_000);
    const endsMs = timer.now() + 30_000;
    void gate.run(() => starts.push(timer.now()));
    await timer.advance(40_000);
    expect(starts).toHaveLength(1);
    expect(starts[0]).toBeGreaterThanOrEqual(endsMs);
  });

  test("is five minutes unless set, and is not waited for by a retry", async () => {
    const { gate, events } = setUp({ retry: 3 });
    const answer = { status: 429, headers: { "retry-after": "31536000" } };
    expect(await gate.run(() => answer)).toBe(answer);
    expect(events.at(-1)).toMatchObject({ type: "retry-denied", deniedBy: "max-pause" });
    await expect(gate.run(() => 1)).rejects.toMatchObject({ refusedAt: "max-pause" });
  });
});

test("calls that were served, refused or given up are no longer before a newcomer", async () => {
  const timer = new VirtualTimer();
  const gate = createGate({ rate: "10/s", runtime: { timer } });
  const giveUp = new AbortController();
  const calls = [
    ...Array.from({ length: 20 }, () => gate.run(() => 1)),
    ...Array.from({ length: 20 }, () => gate.run(() => 1, { signal: giveUp.signal })),
    ...Array.from({ length: 20 }, () => gate.run(() => 1, { deadlineMs: 6500 })),
  ];
  const settled = Promise.allSettled(calls);
  await timer.advance(1000);
  giveUp.abort();
  await timer.advance(7000);
  await settled;
  expect(gate.waiting).toBe(0);
  gate.tryAcquire();
  void gate.run(() => 1);
  const newcomer = gate.tryAcquire();
  expect(newcomer.refused).toBe("rate");
  // The rest of one token, and one more.
  const retryAfterMs = newcomer.refused === undefined ? 0 : newcomer.retryAfterMs;
  expect(retryAfterMs).toBeGreaterThan(100);
  expect(retryAfterMs).toBeLessThanOrEqual(200);
  await timer.advance(1000);
});

test("ending a pause of a rate in debt does not forgive the debt", () => {
  const timer = new VirtualTimer();
  const rates = { tokens: { rate: "100/s", burst: 100 } };
  const gate = createGate({ rates, runtime: { timer } });
  gate.tryAcquire({ cost: { tokens: 300 } });
  gate.pause(1000, { rate: "tokens" });
  gate.resume({ rate: "tokens" });
  expect(gate.why()).toMatchObject({ reason: "rate", rate: "tokens", leftMs: 2010 });
});
