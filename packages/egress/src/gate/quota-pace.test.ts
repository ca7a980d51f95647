import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "./gate.ts";
import type { GateOptions } from "./options.ts";

const QUOTA_PER_SECOND = 200;
const BURST = 20;

/**
 * Callers that never tire, against a quota which is refilled evenly and answers whoever comes over it
 * with 429 and `Retry-After: 1`. How many were served and refused in each second.
 */
async function runAgainstQuota(concurrency: GateOptions["concurrency"], seconds: number) {
  const timer = new VirtualTimer();
  const random = new SeededRandom(7);
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
