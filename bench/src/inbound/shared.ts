import { fork } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { startRedis } from "../fleet/redis.ts";
import type { WorkDone, WorkOrder } from "./shared-worker.ts";

const WORKER = fileURLToPath(new URL("shared-worker.js", import.meta.url));
const PROCESSES = 4;
/** Processes connect before their time begins. */
const START_MS = 1000;
const WARM_UP_MS = 500;

interface Load {
  readonly what: string;
  readonly limit: number;
  readonly periodMs: number;
  readonly burst: number;
  readonly keys: number;
  /** Of each process. */
  readonly perSecond: number;
}

export interface SharedFigures {
  readonly what: string;
  readonly asked: number;
  /** Admitted ÷ the least of what was asked and what the quotas have. */
  readonly exactness: number;
  readonly callsPerRequest: number;
  readonly atOnce: number;
  /** Times that a process lost the store. */
  readonly lost: number;
}

/** Keys with many requests and few, below and above their quota. */
const LOADS: readonly Load[] = [
  {
    what: "hot key, twice its quota",
    limit: 2000,
    periodMs: 1000,
    burst: 2000,
    keys: 1,
    perSecond: 1000,
  },
  {
    what: "hot key, 8 × its quota",
    limit: 1000,
    periodMs: 1000,
    burst: 1000,
    keys: 1,
    perSecond: 2000,
  },
  {
    what: "hot key, half of its quota",
    limit: 4000,
    periodMs: 1000,
    burst: 4000,
    keys: 1,
    perSecond: 500,
  },
  {
    what: "10 hot keys, twice their quota",
    limit: 600,
    periodMs: 1000,
    burst: 600,
    keys: 10,
    perSecond: 3000,
  },
  {
    what: "2000 cold keys, below their quota",
    limit: 10,
    periodMs: 1000,
    burst: 10,
    keys: 2000,
    perSecond: 500,
  },
  {
    what: "400 cold keys, above their quota",
    limit: 3,
    periodMs: 3_600_000,
    burst: 3,
    keys: 400,
    perSecond: 500,
  },
];

/** Four processes with limiters that share quotas through a Redis of their own. */
export async function runShared(durationMs: number): Promise<SharedFigures[]> {
  const redis = await startRedis();
  const url = `redis://127.0.0.1:${redis.port}`;
  const client = new Redis(url);
  const workers = Array.from({ length: PROCESSES }, () => fork(WORKER, [url]));
  try {
    // Each says so when it is up.
    await Promise.all(workers.map((worker) => once(worker, "message")));
    const measureLoad = async (load: Load, name: string, ms: number): Promise<SharedFigures> => {
      const callsBefore = await scriptCalls(client);
      const startAtMs = Date.now() + START_MS;
      const order = { ...load, name, rate: rateOf(load), startAtMs, durationMs: ms };
      const done = await Promise.all(workers.map((worker) => perform(worker, order)));
      // Each process warmed up with one call.
      const calls = (await scriptCalls(client)) - callsBefore - PROCESSES;
      return figuresOf(load, ms, done, calls);
    };
    // While code is not compiled yet, requests come late, and a full quota has lost what came meanwhile.
    for (const [index, load] of LOADS.entries())
      await measureLoad(load, `warm-up-${index}`, WARM_UP_MS);
    const figures: SharedFigures[] = [];
    for (const [index, load] of LOADS.entries())
      figures.push(await measureLoad(load, `load-${index}`, durationMs));
    return figures;
  } finally {
    for (const worker of workers) worker.disconnect();
    client.disconnect();
    await redis.stop();
  }
}

function rateOf({ limit, periodMs, burst }: Load): WorkOrder["rate"] {
  return { limit, periodMs, burst };
}

async function perform(worker: ChildProcess, order: WorkOrder): Promise<WorkDone> {
  worker.send(order);
  const [done] = (await once(worker, "message")) as [WorkDone];
  return done;
}

function figuresOf(
  { what, limit, periodMs, burst, keys }: Load,
  durationMs: number,
  done: readonly WorkDone[],
  calls: number,
): SharedFigures {
  const sum = (field: keyof WorkDone): number =>
    done.reduce((total, each) => total + each[field], 0);
  const asked = sum("asked");
  const quota = keys * (burst + (limit * durationMs) / periodMs);
  return {
    what,
    asked,
    exactness: sum("admitted") / Math.min(asked, quota),
    callsPerRequest: calls / asked,
    atOnce: sum("atOnce") / asked,
    lost: sum("lost"),
  };
}

async function scriptCalls(client: Redis): Promise<number> {
  const stats = await client.info("commandstats");
  return ["evalsha", "eval"]
    .map((name) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0))
    .reduce((total, count) => total + count, 0);
}
