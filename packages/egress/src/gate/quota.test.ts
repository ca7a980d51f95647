import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options/gate-options.ts";

const QUOTA_PER_SECOND = 200;
const BURST = 20;

/**
 * Callers that never rest, against a quota which is refilled evenly and answers calls beyond it
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
    // Those that were in flight when the hint came had been sent before it.
    expect(early).toEqual([]);
  },
);

test.each([1, 2, 3])("a quota is nearly used up, with ever fewer hints (seed %i)", async (seed) => {
  const { served, refused } = await runAgainstQuota("adaptive", 60, seed);
  expect(sum(served.slice(1, 5)) / 4).toBeGreaterThan(0.5 * QUOTA_PER_SECOND);
  expect(sum(served.slice(25)) / 35).toBeGreaterThan(0.9 * QUOTA_PER_SECOND);
  const hintsAt = refused.flatMap((count, second) => (count > 0 && second >= 10 ? [second] : []));
  expect(hintsAt.length).toBeGreaterThan(0);
  for (const [i, second] of hintsAt.entries())
    expect(second - (hintsAt[i - 1] ?? -Infinity)).toBeGreaterThan(10);
});

const answer = (status: number) => () => ({ status, headers: { "retry-after": "60" } });

test("resume ends the pace that came with the pause", async () => {
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

/** An answer that tells what is left of a quota. */
const served = (remaining: number) => () => ({
  status: 200,
  headers: { "x-ratelimit-remaining": String(remaining), "x-ratelimit-reset": "1" },
});

test("a served answer that tells of a used-up quota pauses all calls, and sets no pace after the pause", async () => {
  const timer = new VirtualTimer();
  const gate = createGate({ runtime: { timer, wallClock: timer } });
  for (let i = 3; i >= 0; i--) {
    await gate.run(served(i));
    await timer.advance(100);
  }
  expect(gate.why()?.reason).toBe("retry-after");
  await timer.advance(2000);
  for (let i = 0; i < 20; i++) await gate.run(served(20), { wait: false });
});
