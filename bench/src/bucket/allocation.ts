import { PerformanceObserver } from "node:perf_hooks";
import { nextTurn } from "@sluice/core/system";
import type { Loop } from "../measure.ts";
import { collectGarbage } from "./garbage.ts";

const WARM_UPS = 5;

/**
 * Bytes that one call allocates: growth of the heap over many calls while nothing is collected. A
 * loop that does cause a collection is run again with a fifth of the calls, until it causes none.
 */
export async function bytesPerCall(loop: Loop, callsAtMost: number): Promise<number> {
  for (let i = 0; i < WARM_UPS; i++) await loop(callsAtMost / 10);
  for (let calls = callsAtMost; calls >= 1_000; calls /= 5) {
    const grownBy = await growthOver(calls, loop);
    if (grownBy !== undefined) return grownBy / calls;
  }
  throw new Error("the heap is collected too often to see what a call allocates");
}

async function growthOver(calls: number, loop: Loop): Promise<number | undefined> {
  let collections = 0;
  const observer = new PerformanceObserver((list) => {
    collections += list.getEntries().length;
  });
  collectGarbage();
  await nextTurn();
  observer.observe({ entryTypes: ["gc"] });
  const before = process.memoryUsage().heapUsed;
  await loop(calls);
  const after = process.memoryUsage().heapUsed;
  // Entries are delivered in a turn of their own.
  for (let i = 0; i < 3; i++) await nextTurn();
  observer.disconnect();
  return collections === 0 ? after - before : undefined;
}
