/**
 * A thread that acquires for the length of each run, and counts its acquires in every moment of 2 ms.
 *
 * `signal[0]` counts the runs, `signal[1]` says how many threads take part in the current one.
 */
// Threads have no origin.
/* oxlint-disable unicorn/require-post-message-target-origin */
import { parentPort, workerData } from "node:worker_threads";
import { SharedBucket } from "@sluice/fleet";
import type { SharedBucketHandle } from "@sluice/fleet";
import { threadClock } from "@sluice/core/system";
import type { CaseName } from "./cases.ts";
import { CASES, MOMENT_MS } from "./cases.ts";

export interface WorkerOrder {
  readonly name: CaseName;
  readonly index: number;
  readonly signal: Int32Array;
  readonly runMs: number;
  readonly handle: SharedBucketHandle;
  readonly counter: Int32Array;
}

export interface RunResult {
  readonly granted: number;
  /** Acquires by moment; the same moment has the same number in every thread. */
  readonly asked: ReadonlyMap<number, number>;
}

/** Between two looks at the clock. */
const ASKS = 200;

const { name, index, signal, runMs, handle, counter } = workerData as WorkerOrder;
const { options, perTurn, kind } = CASES[name];
const clock = threadClock;
const bucket =
  kind === "own"
    ? SharedBucket.create({ ...options, clock })
    : SharedBucket.attach(handle, { clock });
const ask = askFor();

parentPort?.postMessage("ready");
for (let run = 1; ; run++) {
  while (Atomics.load(signal, 0) < run) Atomics.wait(signal, 0, run - 1);
  if (index < Atomics.load(signal, 1)) parentPort?.postMessage(runOnce());
}

function runOnce(): RunResult {
  const asked = new Map<number, number>();
  const endMs = clock.now() + runMs;
  let nowMs = 0;
  let granted = 0;
  let moment = 0;
  let askedInMoment = 0;
  while (nowMs < endMs) {
    granted += ask();
    askedInMoment += ASKS;
    nowMs = clock.now();
    const momentNow = Math.floor(nowMs / MOMENT_MS);
    if (momentNow === moment) continue;
    asked.set(moment, askedInMoment);
    moment = momentNow;
    askedInMoment = 0;
  }
  return { granted, asked };
}

function askFor(): () => number {
  if (kind === "counter") return askCounter;
  return perTurn === 1 ? askEach : askInTurns;
}

function askEach(): number {
  let granted = 0;
  for (let i = 0; i < ASKS; i++) if (bucket.tryAcquire(1)) granted++;
  return granted;
}

function askInTurns(): number {
  let granted = 0;
  for (let turn = 0; turn < ASKS; turn += perTurn) {
    const nowMs = clock.now();
    for (let i = 0; i < perTurn; i++) if (bucket.tryAcquire(1, nowMs)) granted++;
  }
  return granted;
}

function askCounter(): number {
  let granted = 0;
  for (let i = 0; i < ASKS; i++) if (Atomics.add(counter, 0, 1) !== -1) granted++;
  return granted;
}
