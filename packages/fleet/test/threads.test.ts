/** Real threads, which run what was built, for a third of a second of real time. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { threadClock } from "@sluice/core/system";
import { expect, test } from "vitest";
import { SharedBucket } from "../src/threads/shared-bucket.ts";

const RUN_MS = 300;
const WORKER = new URL("threads-worker.mjs", import.meta.url);

interface Crew {
  /** What each worker asks for in turn; as many workers as there are of these. */
  readonly counts: readonly (readonly number[])[];
  readonly releases: boolean;
}

interface Outcome {
  /** What the workers' clocks told when they were ready. */
  readonly readyMs: readonly number[];
  readonly granted: readonly number[];
  readonly threadIds: readonly number[];
}

async function hammer(bucket: SharedBucket, { counts, releases }: Crew): Promise<Outcome> {
  const gate = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const common = { handle: bucket.handle, gate, runMs: RUN_MS, releases };
  const workers = counts.map(
    (ofOne) => new Worker(WORKER, { workerData: { ...common, counts: ofOne } }),
  );
  const threadIds = workers.map(({ threadId }) => threadId);
  const messages = (): Promise<unknown[][]> =>
    Promise.all(workers.map((worker) => once(worker, "message")));
  try {
    const readyMs = (await messages()).map(([ms]) => ms as number);
    const ended = messages();
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
    const granted = (await ended).map(([count]) => count as number);
    return { readyMs, granted, threadIds };
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function sum(counts: readonly number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}

test("without refill, what threads are granted and what is left is all there was", async () => {
  const capacity = 1_000_003;
  const endless = { rate: 1, periodMs: 1e12, capacity };
  const bucket = SharedBucket.create({ ...endless, clock: threadClock });
  const counts = [[1], [1, 2, 3], [7, 1], [1000, 1, 1, 1]];
  const { granted } = await hammer(bucket, { counts, releases: true });
  expect(sum(granted) + bucket.balance()).toBe(capacity);
  expect(sum(granted)).toBeGreaterThan(0);
});

test("threads that fight for every token get all that time brings and nothing above", async () => {
  const perMs = 1000;
  const capacity = 60_000 * perMs;
  const settings = { rate: 1000 * perMs, capacity, maxThreads: 4 };
  const beforeMs = threadClock.now();
  const bucket = SharedBucket.create({ ...settings, clock: threadClock });
  expect(bucket.tryAcquire(capacity)).toBe(true);
  const drainedMs = threadClock.now();

  const { readyMs, granted, threadIds } = await hammer(bucket, {
    counts: [[1], [1, 50], [3]],
    releases: false,
  });
  const lookedMs = threadClock.now();
  for (const ms of readyMs) {
    expect(ms).toBeGreaterThan(drainedMs);
    expect(ms).toBeLessThan(lookedMs - RUN_MS);
  }
  const total = sum(granted) + bucket.balance();
  expect(total).toBeLessThanOrEqual((threadClock.now() - beforeMs) * perMs);
  // One resolution may not have been added yet, and a sixteenth of one is lost to the full start.
  expect(total).toBeGreaterThanOrEqual((lookedMs - drainedMs - 17) * perMs - 1);

  // The workers released nothing: what they held is for all, and their places can be reclaimed.
  expect(bucket.tryAcquire(bucket.balance())).toBe(true);
  expect(() => SharedBucket.attach(bucket.handle, { clock: threadClock })).toThrow("maxThreads");
  for (const threadId of threadIds) bucket.reclaim(threadId);
  SharedBucket.attach(bucket.handle, { clock: threadClock }).release();
});
