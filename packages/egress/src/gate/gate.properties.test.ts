import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Verdict } from "../outcome/verdict.ts";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";

interface Plan {
  readonly comesAtMs: number;
  readonly takesMs: number | null;
  readonly deadlineMs: number;
  readonly abortAfterMs: number | null;
  readonly weight: number;
  readonly priority: number;
  readonly fails: "ok" | "busy" | "paused" | "throws";
}

const plans = fc.array(
  fc.record<Plan>({
    comesAtMs: fc.integer({ min: 0, max: 300 }),
    takesMs: fc.option(fc.integer({ min: 0, max: 200 }), { freq: 6 }),
    deadlineMs: fc.integer({ min: 0, max: 300 }),
    abortAfterMs: fc.option(fc.integer({ min: 0, max: 300 }), { freq: 1, nil: null }),
    weight: fc.integer({ min: 1, max: 3 }),
    priority: fc.integer({ min: -1, max: 1 }),
    fails: fc.constantFrom("ok", "ok", "busy", "paused", "throws"),
  }),
  { minLength: 1, maxLength: 40 },
);

const settings = fc.record<GateOptions>(
  {
    concurrency: fc.constantFrom<NonNullable<GateOptions["concurrency"]>[]>(
      1,
      3,
      "none",
      "adaptive",
      { algorithm: "vector" },
      { algorithm: "rfc" },
    ),
    rate: fc.constantFrom("20/s", "1000/s", { limit: 50, periodMs: 1000, burst: 2 }),
    busy: fc.constantFrom("sluice", "table", "prose", "off"),
    maxWaiting: fc.integer({ min: 0, max: 10 }),
    retry: fc.constant({ maxParked: 2, backoff: { baseMs: 20 } }),
  },
  { requiredKeys: ["maxWaiting"] },
);

test("every caller is answered by its deadline or abort, every bound holds, and nothing is left", async () => {
  await fc.assert(
    fc.asyncProperty(settings, plans, async (options, all) => {
      const timer = new VirtualTimer();
      let broken: string | undefined;
      const gate = createGate({
        ...options,
        classify: (settled) => ("value" in settled ? (settled.value as Verdict) : undefined),
        observers: [
          () => {
            if (gate.waiting > (options.maxWaiting ?? 0)) broken = "more wait than may";
            if (gate.parked > 2) broken = "more are parked than may be";
            if (gate.inFlight < 0) broken = "less than nothing in flight";
            const { concurrency } = options;
            if (typeof concurrency === "number" && gate.inFlight > Math.max(concurrency, 3))
              broken = "more in flight than the limit and the one that is heavier";
          },
        ],
        runtime: { timer, random: new SeededRandom(7) },
      });
      let answered = 0;
      const hung: (() => void)[] = [];
      const call = async (plan: Plan): Promise<void> => {
        await timer.sleep(plan.comesAtMs);
        const cameAtMs = timer.now();
        const controller = new AbortController();
        const { takesMs, deadlineMs, abortAfterMs, weight, priority, fails } = plan;
        if (abortAfterMs !== null) void timer.sleep(abortAfterMs).then(() => controller.abort());
        const work = async (): Promise<Verdict> => {
          if (takesMs === null) await new Promise<void>((resolve) => hung.push(resolve));
          else await timer.sleep(takesMs);
          if (fails === "throws") throw new Error("thrown");
          if (fails === "ok") return { outcome: "ok", retriable: "never" };
          const pause = fails === "paused" ? { pauseMs: 50 } : {};
          return { outcome: "busy", retriable: "safe", scope: "overloaded", ...pause };
        };
        await gate
          .run(work, { weight, priority, deadlineMs, signal: controller.signal })
          .catch(() => undefined);
        answered++;
        const patienceMs = Math.min(deadlineMs, abortAfterMs ?? deadlineMs);
        if (timer.now() > cameAtMs + patienceMs + 0.1) broken = "answered late";
      };
      const calls = all.map(call);
      await timer.advance(2000);
      expect(broken).toBeUndefined();
      expect(answered).toBe(all.length);
      expect([gate.waiting, gate.parked]).toEqual([0, 0]);
      // What hangs keeps its permits, for what it is worth, and gives them back when it settles.
      expect(gate.abandoned).toBe(hung.length);
      for (const settle of hung) settle();
      await timer.advance(1);
      await Promise.all(calls);
      expect([gate.inFlight, gate.abandoned, timer.sleeping]).toEqual([0, 0, 0]);
    }),
    { numRuns: 60 },
  );
});

test("over any stretch no more starts than the burst and the rate allow", async () => {
  const rates = fc.record({
    limit: fc.integer({ min: 1, max: 50 }),
    periodMs: fc.integer({ min: 50, max: 1000 }),
    burst: fc.integer({ min: 1, max: 20 }),
  });
  // Many at one instant, so that the burst is used up.
  const arrivalsMs = fc
    .array(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 25 })), { maxLength: 6 })
    .map((crowds) => crowds.flatMap(([atMs, count]) => Array<number>(count).fill(atMs)));
  await fc.assert(
    fc.asyncProperty(rates, arrivalsMs, async (rate, arrivals) => {
      const timer = new VirtualTimer();
      const gate = createGate({ rate, runtime: { timer } });
      const starts: number[] = [];
      for (const atMs of arrivals)
        void timer.sleep(atMs).then(() => gate.run(() => starts.push(timer.now())));
      await timer.advance(100_000);
      expect(starts).toHaveLength(arrivals.length);
      for (let from = 0; from < starts.length; from++)
        for (let to = from; to < starts.length; to++) {
          const stretchMs = (starts[to] ?? 0) - (starts[from] ?? 0);
          // What came within the stretch, and up to a millisecond's worth that is counted whole.
          const come = ((stretchMs + 1) * rate.limit) / rate.periodMs;
          expect(to - from + 1).toBeLessThanOrEqual(rate.burst + Math.floor(come));
        }
    }),
    { numRuns: 30 },
  );
});
