import { PerformanceObserver } from "node:perf_hooks";
import { nextTurn } from "@sluice/core/system";
import type { Loop } from "../measure.ts";
import { collectGarbage } from "./garbage.ts";

/** Enough calls that the observer's own few kilobytes vanish: a byte in a hundred calls shows. */
const CALLS = 10_000_000;

const WARM_UPS = 5;

/**
 * Bytes that one call allocates: growth of the heap over many calls while nothing is collected. A
 * loop that does cause a collection is run again with a tenth of the calls, until it causes none.
 */
export async function bytesPerCall(loop: Loop): Promise<number> {
  for (let i = 0; i < WARM_UPS; i++) await loop(CALLS / 10);
  for (let calls = CALLS; calls >= 1_000; calls /= 10) {
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
