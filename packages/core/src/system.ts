/**
 * The one file that touches the real clock, real timers and real randomness. Everything else is
 * given them.
 */
import { CachedClock } from "./cached-clock.ts";
import type { Random } from "./random.ts";
import { NANOS_PER_MS } from "./time.ts";
import type { Clock, Timer } from "./time.ts";

/** Longest delay that setTimeout accepts, in milliseconds; longer sleeps are made of several. */
const TIMEOUT_MAX_MS = 2 ** 31 - 1;

/** `performance.now()`: monotonic, also when the wall clock is set. */
export const systemClock: Clock = { now: () => performance.now() };

/**
 * One clock for all threads of a machine: monotonic, and readings of different threads compare.
 * `performance.now()` does not: each thread may count from an origin of its own. Without `process`
 * (browsers) the wall clock at the start of each thread is its origin.
 */
export const threadClock: Clock = { now: machineClock() };

/** `systemClock` with real sleep. A sleep keeps the process alive until it ends. */
export const systemTimer: Timer = {
  now: () => performance.now(),
  sleep: (ms, signal) => sleepUntil(performance.now() + ms, signal),
};

/** Wall time, for comparing with dates that peers send. It may jump, so nothing is timed by it. */
export const systemWallClock: Clock = { now: () => Date.now() };

/** A reading of the wall clock as text: "2026-11-16T16:50:07.522Z". Readings that are no date throw. */
export function formatWallTime(ms: number): string {
  return new Date(ms).toISOString();
}

export const systemRandom: Random = { next: () => Math.random() };

/** Calls back after `ms` if the process still runs then: this timer alone does not keep it. */
export function ifStillRunning(ms: number, run: () => void): void {
  const handle: unknown = setTimeout(run, ms);
  // A browser's timer is a number.
  (handle as { readonly unref?: () => void }).unref?.();
}

/** A clock that reads the real one once per turn of the event loop. */
export function createCachedClock(): Clock {
  return new CachedClock(systemClock, atEndOfTurn);
}

/** Resolves in the next turn of the event loop, after everything that is ready in this one. */
export function nextTurn(): Promise<void> {
  return new Promise(atEndOfTurn);
}

function machineClock(): () => number {
  // Browsers have no `process`.
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
    // Node may fire a timer up to a millisecond early; the contract of `Timer` is never.
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
