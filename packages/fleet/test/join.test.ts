import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { joinFleet } from "../src/index.ts";
import type { FleetEvent, FleetLimiter, JoinOptions } from "../src/index.ts";
import { MemoryStore } from "../src/store/memory-store.ts";

const RATE_LIMIT = { max: 1000, min: 1000 };

function setUp() {
  const timer = new VirtualTimer();
  const store = new MemoryStore(timer);
  let seed = 0;
  /** Joins as time passes: the promise is awaited by whoever moves the time. */
  function join(member: string, options: Partial<JoinOptions> = {}) {
    const events: FleetEvent[] = [];
    const joined = joinFleet({
      pool: "shop/orders",
      member,
      store,
      rateLimit: RATE_LIMIT,
      share: "equal",
      pacing: "smooth",
      runtime: { timer, random: new SeededRandom(++seed) },
      onEvent: (event) => void events.push(event),
      ...options,
    });
    joined.catch(() => {});
    return { joined, events };
  }
  return { timer, store, join };
}

/** Takes all there is, every millisecond, and answers what each got. */
async function takeAll(
  timer: VirtualTimer,
  limiters: readonly FleetLimiter[],
  ms: number,
): Promise<number[]> {
  const got = limiters.map(() => 0);
  for (let left = ms; left > 0; left--) {
    await timer.advance(1);
    for (const [i, limiter] of limiters.entries())
      got[i] = (got[i] ?? 0) + (limiter.tryAcquireUpTo(1000)?.count ?? 0);
  }
  return got;
}

test("a pool of one has all of the ceiling, one of two half of it each", async () => {
  const { timer, join } = setUp();
  const a = join("a");
  await timer.advance(6500);
  const limiters = [await a.joined];
  const [alone = 0] = await takeAll(timer, limiters, 1000);
  expect(alone).toBeGreaterThan(970);
  expect(alone).toBeLessThanOrEqual(1040);
  const b = join("b");
  await timer.advance(6500);
  limiters.push(await b.joined);
  const both = await takeAll(timer, limiters, 2000);
  for (const got of both) {
    expect(got).toBeGreaterThan(970);
    expect(got).toBeLessThanOrEqual(1020);
  }
  for (const limiter of limiters) await limiter.leave();
  expect(timer.sleeping).toBe(0);
});
