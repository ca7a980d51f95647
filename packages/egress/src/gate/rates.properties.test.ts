import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import type { Cost } from "./rate/cost.ts";

interface RatePlan {
  readonly limit: number;
  readonly periodMs: number;
  readonly burst?: number;
}

/** The time whose tokens a rate without a burst may save up, in ms. */
const CATCH_UP_MS = 50;

const rate = fc.record<RatePlan>(
  {
    limit: fc.integer({ min: 1, max: 2000 }),
    periodMs: fc.integer({ min: 100, max: 5000 }),
    burst: fc.integer({ min: 1, max: 300 }),
  },
  { requiredKeys: ["limit", "periodMs"] },
);

const call = fc.record({
  comesAtMs: fc.integer({ min: 0, max: 500 }),
  a: fc.integer({ min: 0, max: 400 }),
  b: fc.integer({ min: 0, max: 50 }),
  priority: fc.integer({ min: 0, max: 1 }),
});

interface Start {
  readonly atMs: number;
  readonly cost: Cost;
}

/** The most that may start within `stretchMs`, if the dearest call of the stretch cost `dearest`. */
function allowed({ limit, periodMs, burst }: RatePlan, stretchMs: number, dearest: number): number {
  const saved = burst ?? 1 + (Math.min(CATCH_UP_MS, periodMs) * limit) / periodMs;
  // A part of a token may be counted whole, and a millisecond may be rounded.
  const rounding = 1 + (2 * limit) / periodMs;
  return (limit * stretchMs) / periodMs + Math.max(saved, dearest) + rounding;
}

test("over any stretch no rate is exceeded by more than its burst or one call, and all calls are served", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.record({ a: rate, b: rate }),
      fc.array(call, { minLength: 1, maxLength: 30 }),
      async (rates, calls) => {
        const timer = new VirtualTimer();
        const gate = createGate({ rates, runtime: { timer } });
        const starts: Start[] = [];
        for (const { comesAtMs, a, b, priority } of calls) {
          const cost = { a, b };
          const start = (): void => void starts.push({ atMs: timer.now(), cost });
          void timer.sleep(comesAtMs).then(() => gate.run(start, { cost, priority }));
        }
        await timer.advance(100_000_000);
        expect(starts).toHaveLength(calls.length);
        for (const name of ["a", "b"] as const)
          for (let from = 0; from < starts.length; from++) {
            let sum = 0;
            let dearest = 0;
            for (let to = from; to < starts.length; to++) {
              const cost = starts[to]?.cost[name] ?? 0;
              sum += cost;
              dearest = Math.max(dearest, cost);
              const stretchMs = (starts[to]?.atMs ?? 0) - (starts[from]?.atMs ?? 0);
              expect(sum).toBeLessThanOrEqual(allowed(rates[name], stretchMs, dearest));
            }
          }
      },
    ),
    { numRuns: 60 },
  );
});

test("while calls wait, the rate that binds is used to at least 98 %", async () => {
  const plan = fc.record({
    requests: fc.integer({ min: 5, max: 200 }),
    tokens: fc.integer({ min: 500, max: 50_000 }),
    cost: fc.integer({ min: 1, max: 2000 }),
    rttMs: fc.integer({ min: 0, max: 300 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ requests, tokens, cost, rttMs }) => {
      const timer = new VirtualTimer();
      const gate = createGate({
        rates: { requests: `${requests}/s`, tokens: `${tokens}/s` },
        maxWaiting: 100_000,
        runtime: { timer },
      });
      const perSecond = Math.min(requests, tokens / cost);
      const count = Math.ceil(30 * perSecond) + 2;
      let started = 0;
      for (let i = 0; i < count; i++) {
        const work = (): Promise<void> => {
          started++;
          return timer.sleep(rttMs);
        };
        gate.run(work, { cost: { tokens: cost } }).catch(() => undefined);
      }
      await timer.advance(20_000);
      expect(started).toBeGreaterThanOrEqual(Math.floor(0.98 * 20 * perSecond));
      expect(gate.waiting).toBeGreaterThan(0);
      gate.close();
      await timer.advance(1000);
    }),
    { numRuns: 30 },
  );
});

test("what was charged in the end is what was settled last, whatever was estimated", async () => {
  const settled = fc.record({
    estimate: fc.integer({ min: 0, max: 500 }),
    settles: fc.array(fc.integer({ min: 0, max: 500 }), { maxLength: 3 }),
    endsFirst: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(settled, { maxLength: 40 }), async (calls) => {
      const timer = new VirtualTimer();
      const burst = 100_000;
      // Hardly anything is refilled, so the balance tells what was charged.
      const rates = { tokens: { limit: 1, periodMs: 31_000_000_000, burst }, other: "100000/s" };
      const gate = createGate({ rates, runtime: { timer } });
      // At least one token is missing: a full bucket lets even more pass.
      let charged = 1;
      gate.tryAcquire({ cost: { tokens: 1 } });
      for (const { estimate, settles, endsFirst } of calls) {
        const { permit } = await gate.acquire({ cost: { tokens: estimate } });
        if (endsFirst) permit?.end("ok");
        for (const tokens of settles) permit?.settle({ tokens });
        permit?.end("ok");
        charged += settles.at(-1) ?? estimate;
        await timer.advance(1);
      }
      const left = burst - charged;
      expect(gate.tryAcquire({ cost: { tokens: left + 1 } }).permit).toBeUndefined();
      expect(gate.tryAcquire({ cost: { tokens: left } }).permit).toBeDefined();
    }),
    { numRuns: 60 },
  );
});

test("tokens that a call gives back go to the waiters in the same step, even above the burst", async () => {
  const timer = new VirtualTimer();
  const gate = createGate({ rates: { tokens: "1000/s" }, runtime: { timer } });
  const { permit } = await gate.acquire({ cost: { tokens: 5000 } });
  const started: number[] = [];
  for (let i = 0; i < 4; i++)
    gate.run(() => started.push(timer.now()), { cost: { tokens: 1000 } }).catch(() => undefined);
  await timer.advance(100);
  expect(started).toEqual([]);
  permit?.settle({ tokens: 1000 });
  await timer.advance(0);
  // Of 5000 tokens 4000 came back, and 100 ms have passed: the debt of 4949 is 849, then calls of 1000 each.
  expect(started).toEqual([]);
  permit?.settle({ tokens: 0 });
  expect(started).toEqual([100]);
  permit?.end("ok");
  gate.close();
});
