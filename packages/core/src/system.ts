/**
 * The one file that touches the real clock, real timers and real randomness. Everything else is
 * given them.
 */
import { CachedClock } from "./cached-clock.ts";
import type { Random } from "./random.ts";
import { NANOS_PER_MS } from "./time.ts";
import type { Clock, Timer } from "./time.ts";

/** setTimeout fires at once for anything longer, so longer sleeps are made of several. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** `performance.now()`: monotonic, whatever happens to the wall clock. */
export const systemClock: Clock = { now: () => performance.now() };

/**
 * One clock for all threads of a machine: monotonic, and a reading in one thread compares with a
 * reading in another. `performance.now()` counts from an origin that each thread may have of its
 * own. Where there is no `process`, the origins are those that the wall clock gave the threads.
 */
export const threadClock: Clock = { now: machineClock() };

/** The same clock, with real sleep. A sleep keeps the process alive until it ends. */
export const systemTimer: Timer = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleepUntil(performance.now() + ms, signal),
};

/** Wall time, for the dates that peers send. It may jump: nothing is timed by it. */
export const systemWallClock: Clock = { now: () => Date.now() };

export const systemRandom: Random = { next: () => Math.random() };

/** A clock that reads the real one once per turn of the event loop. */
export function createCachedClock(): Clock {
  return new CachedClock(systemClock, atEndOfTurn);
}

/** Resolves in the next turn of the event loop, after everything that is ready in this one. */
export function nextTurn(): Promise<void> {
  return new Promise(atEndOfTurn);
}

function machineClock(): () => number {
  // Browsers have none.
  const { process } = globalThis as {
    readonly process?: { readonly hrtime: () => [number, number] };
  };
  const hrtime = process?.hrtime;
  if (hrtime === undefined) return () => performance.timeOrigin + performance.now();
  return () => {
    const [seconds, nanos] = hrtime();
    return seconds * 1000 + nanos / NANOS_PER_MS;
  };
}

function atEndOfTurn(run: () => void): void {
  // Browsers and some workers have no setImmediate.
  if (typeof setImmediate === "function") setImmediate(run);
  else setTimeout(run, 0);
}

async function sleepUntil(wakeAtMs: number, signal: AbortSignal | undefined): Promise<void> {
  for (;;) {
    // Node may fire a timer up to a millisecond early; the contract is never.
    const leftMs = Math.ceil(wakeAtMs - performance.now());
    signal?.throwIfAborted();
    if (!(leftMs > 0)) return;
    await timeout(Math.min(leftMs, TIMEOUT_MAX_MS), signal);
  }
}

function timeout(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(handle);
      signal?.removeEventListener("abort", end);
      resolve();
    };
    const handle = setTimeout(end, ms);
    signal?.addEventListener("abort", end);
  });
}
