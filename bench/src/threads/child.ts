/** Measures one case, `child.js <case> <runs> <runMs>`, and prints its figures as JSON. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { SharedBucket } from "@sluice/fleet";
import { threadClock } from "@sluice/core/system";
import type { Figures } from "../run-cases.ts";
import type { CaseName } from "./cases.ts";
import { CASES, MOMENT_MS } from "./cases.ts";
import type { RunResult, WorkerOrder } from "./worker.ts";

const THREADS = 2;
/** Runs that are not counted. */
const WARM_UP = 1;

/**
 * The fastest part of the moments, which is counted: those in which others left every thread a core.
 * Time is the wall's, because two threads that take turns on one core never meet, and by CPU time
 * would seem to be as fast as two can be.
 */
const COUNTED = 1 / 100;

const [name = "exact", runs = "10", runMs = "200"] = process.argv.slice(2);
console.log(JSON.stringify(await measureCase(name as CaseName, Number(runs), Number(runMs))));
process.exit();

async function measureCase(ofCase: CaseName, runsCounted: number, ms: number): Promise<Figures> {
  const { options, kind } = CASES[ofCase];
  const createdMs = threadClock.now();
  const bucket = SharedBucket.create({ ...options, clock: threadClock });
  const run = await startThreads({ name: ofCase, runMs: ms, handle: bucket.handle });
  const one: number[] = [];
  const two: number[] = [];
  let granted = 0;
  for (let i = 0; i < WARM_UP + runsCounted; i++) {
    // In turns, so that a change of the processor's speed meets both.
    for (const [threads, moments] of [[1, one] as const, [THREADS, two] as const]) {
      const results = await run(threads);
      granted += sum(results.map((result) => result.granted));
      if (i >= WARM_UP) moments.push(...askedByMoment(results));
    }
  }
  const { rate, capacity = rate } = options;
  const most = capacity + (rate * (threadClock.now() - createdMs)) / 1000;
  if (kind === "shared" && granted > most) {
    throw new Error(`${granted} granted where at most ${most} were there`);
  }
  return { one: fastest(one), two: fastest(two) };
}

async function startThreads(
  order: Omit<WorkerOrder, "index" | "signal" | "counter">,
): Promise<(threads: number) => Promise<readonly RunResult[]>> {
  const signal = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
  const counter = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const workers = Array.from({ length: THREADS }, (_, index) => {
    const workerData: WorkerOrder = { ...order, index, signal, counter };
    return new Worker(new URL("worker.js", import.meta.url), { workerData });
  });
  await Promise.all(workers.map((worker) => once(worker, "message")));
  return async (threads) => {
    const results = Promise.all(
      workers.slice(0, threads).map((worker) => once(worker, "message") as Promise<[RunResult]>),
    );
    Atomics.store(signal, 1, threads);
    Atomics.add(signal, 0, 1);
    Atomics.notify(signal, 0);
    return (await results).map(([result]) => result);
  };
}

function askedByMoment(results: readonly RunResult[]): readonly number[] {
  const all = new Map<number, number>();
  for (const { asked } of results) {
    for (const [moment, count] of asked) all.set(moment, (all.get(moment) ?? 0) + count);
  }
  return [...all.values()];
}

/** Acquires per second in the fastest moments. */
function fastest(moments: readonly number[]): number {
  const counted = moments.toSorted((a, b) => b - a).slice(0, Math.ceil(moments.length * COUNTED));
  return (sum(counted) / (counted.length * MOMENT_MS)) * 1000;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
