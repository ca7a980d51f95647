/**
 * A worker thread that takes from a shared bucket as fast as it can, and tells what it was granted.
 *
 * `workerData`: `{ handle, gate, counts, runMs, releases }`. It tells the time when it is ready, waits until the
 * first word of `gate` is no longer 0, and then asks for the counts in turn, for `runMs`.
 */
// Node runs it as it stands, so there are no types to check; and threads have no origin.
/* oxlint-disable unicorn/require-post-message-target-origin, typescript/no-unsafe-argument, typescript/no-unsafe-assignment, typescript/no-unsafe-call, typescript/no-unsafe-member-access */
import { parentPort, workerData } from "node:worker_threads";
import { threadClock } from "@sluice/core/system";
import { SharedBucket } from "../dist/threads/shared-bucket.js";

/** Longer than the slowest machine takes to start the others. */
const GATE_TIMEOUT_MS = 30_000;
const ASKS_PER_FLUSH = 1000;

const { handle, gate, counts, runMs, releases } = workerData;
const bucket = SharedBucket.attach(handle, { clock: threadClock });
let granted = 0;
let asked = 0;

parentPort?.postMessage(threadClock.now());
Atomics.wait(gate, 0, 0, GATE_TIMEOUT_MS);
const endMs = threadClock.now() + runMs;
while (threadClock.now() < endMs) {
  const count = counts[asked++ % counts.length];
  if (bucket.tryAcquire(count)) granted += count;
  if (asked % ASKS_PER_FLUSH === 0) bucket.flush();
}
if (releases) bucket.release();
parentPort?.postMessage(granted);
