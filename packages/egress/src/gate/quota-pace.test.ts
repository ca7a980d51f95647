import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options.ts";
import { QuotaPace } from "./quota-pace.ts";

const QUOTA_PER_SECOND = 200;
const BURST = 20;

/**
 * Callers that never tire, against a quota which is refilled evenly and answers whoever comes over it
 * with 429 and `Retry-After: 1`. How many were served and refused in each second.
 */
async function runAgainstQuota(concurrency: GateOptions["concurrency"], seconds: number, seed = 7) {
  const timer = new VirtualTimer();
  const random = new SeededRandom(seed);
  const gate = createGate({
    ...(concurrency !== undefined && { concurrency }),
    runtime: { timer, random, wallClock: timer },
  });
  const served = Array.from({ length: seconds }, () => 0);
  const refused = Array.from({ length: seconds }, () => 0);
  const early: number[] = [];
  let toldUntilMs = 0;
  let emptyUntilMs = 0;
  const untilMs = seconds * 1000;
  const call = async (): Promise<{ status: number; headers: Record<string, string> }> => {
    const nowMs = timer.now();
    if (nowMs < toldUntilMs) early.push(nowMs);
    if (emptyUntilMs - nowMs > ((BURST - 1) * 1000) / QUOTA_PER_SECOND) {
      await timer.sleep(1);
      toldUntilMs = timer.now() + 1000;
      return { status: 429, headers: { "retry-after": "1" } };
    }
    emptyUntilMs = Math.max(emptyUntilMs, nowMs) + 1000 / QUOTA_PER_SECOND;
    await timer.sleep(1 - 20 * Math.log(1 - random.next()));
    return { status: 200, headers: {} };
  };
  const caller = async (): Promise<void> => {
    while (timer.now() < untilMs) {
      const { status } = await gate.run(call);
      const second = Math.floor(timer.now() / 1000);
      const counts = status === 200 ? served : refused;
      if (second < seconds) counts[second] = (counts[second] ?? 0) + 1;
    }
  };
  const callers = Array.from({ length: 50 }, () => caller().catch(() => undefined));
  await timer.advance(untilMs);
  gate.close();
  await timer.advance(1000);
  await Promise.all(callers);
  return { served, refused, early };
}

const sum = (values: readonly number[]): number =>
  values.reduce((total, value) => total + value, 0);

test.each([["adaptive" as const], [64]])(
  "with concurrency %s a quota that is enforced by pauses is used, not paused away",
  async (concurrency) => {
    const { served, refused, early } = await runAgainstQuota(concurrency, 30);
    expect(sum(served.slice(12)) / 18).toBeGreaterThan(0.8 * QUOTA_PER_SECOND);
    expect(sum(refused.slice(3))).toBeLessThan(0.01 * sum(served));
    // Those that were in flight when the word came had been sent before it.
    expect(early).toEqual([]);
  },
);

test.each([1, 2, 3])("a quota is nearly used up, with ever fewer words (seed %i)", async (seed) => {
  const { served, refused } = await runAgainstQuota("adaptive", 60, seed);
  expect(sum(served.slice(1, 5)) / 4).toBeGreaterThan(0.5 * QUOTA_PER_SECOND);
  expect(sum(served.slice(25)) / 35).toBeGreaterThan(0.9 * QUOTA_PER_SECOND);
  const wordsAt = refused.flatMap((count, second) => (count > 0 && second >= 10 ? [second] : []));
  expect(wordsAt.length).toBeGreaterThan(0);
  for (const [i, second] of wordsAt.entries())
    expect(second - (wordsAt[i - 1] ?? -Infinity)).toBeGreaterThan(10);
});

/** A pace that has seen `perSecond` served for two seconds, and the instant. */
function pacedAfter(perSecond: number): { pace: QuotaPace; nowMs: number } {
  const pace = new QuotaPace(0);
  for (let i = 1; i <= 2 * perSecond; i++) pace.onServed((i * 1000) / perSecond);
  return { pace, nowMs: 2000 };
}

/** How long the second of two starts at an instant is held. */
function gapMs(pace: QuotaPace, atMs: number): number {
  pace.onStart(atMs - 20);
  const beforeMs = pace.pauseMs(atMs);
  pace.onStart(atMs);
  return pace.pauseMs(atMs) - beforeMs;
}

test("the words of one burst count as one", () => {
  const once = pacedAfter(100);
  once.pace.onTold(once.nowMs, 1000, once.nowMs - 10);
  const often = pacedAfter(100);
  for (let i = 0; i < 10; i++) often.pace.onTold(often.nowMs + i, 1000, often.nowMs - 10);
  expect(gapMs(often.pace, 4000)).toBeCloseTo(gapMs(once.pace, 4000), 6);
});

test("a word before anything was served sets no pace", () => {
  const pace = new QuotaPace(0);
  pace.onTold(10, 1000, 0);
  for (let i = 0; i < 100; i++) pace.onStart(2000);
  expect(pace.pauseMs(2000)).toBe(0);
});

test("whatever it is told, one start a second or two gets through", () => {
  const step = fc.record({
    waitMs: fc.double({ min: 0, max: 5000, noNaN: true }),
    what: fc.constantFrom("start", "served", "told"),
    pauseMs: fc.double({ min: 1, max: 100_000, noNaN: true }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const pace = new QuotaPace(0);
      let nowMs = 0;
      for (const { waitMs, what, pauseMs } of steps) {
        nowMs += waitMs;
        if (what === "start") for (let i = 0; i < 10; i++) pace.onStart(nowMs);
        else if (what === "served") pace.onServed(nowMs);
        else pace.onTold(nowMs, pauseMs, nowMs - 1);
        expect(pace.pauseMs(nowMs)).toBeLessThan(2000.001);
      }
    }),
  );
});

const answer = (status: number) => () => ({ status, headers: { "retry-after": "60" } });

test("whoever ends a pause ends the pace that came with it", async () => {
  const timer = new VirtualTimer();
  const gate = createGate({ runtime: { timer, wallClock: timer } });
  for (let i = 0; i < 3; i++) {
    await gate.run(answer(200));
    await timer.advance(500);
  }
  await gate.run(answer(429));
  expect(gate.why()?.reason).toBe("retry-after");
  gate.resume();
  for (let i = 0; i < 20; i++) await gate.run(answer(200), { wait: false });
  gate.close();
});
