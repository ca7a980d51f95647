import type { Timer } from "@sluice/core";
import { DeadlineError } from "../error/deadline-error.ts";

export interface TimeLimit {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  /** What takes too long, for the error. */
  readonly what: string;
}

/**
 * Runs `work` with a signal that is aborted when the time is up, with a `DeadlineError`, or when the
 * caller's signal is. Waits for the work to end even then, so that it leaves nothing behind.
 */
export async function withTimeLimit<T>(
  timer: Timer,
  { ms, signal, what }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const done = new AbortController();
  timer.sleep(ms, done.signal).then(
    () => limit.abort(new DeadlineError(`${what} took longer than ${ms} ms`)),
    // It was done in time.
    () => undefined,
  );
  const both = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  try {
    return await work(both);
  } finally {
    done.abort();
  }
}
