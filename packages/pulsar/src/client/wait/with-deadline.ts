import type { Timer } from "@sluice/core";
import { DeadlineError } from "../error/deadline-error.ts";

export interface Deadline {
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
  /** The work, for the error: "connecting to broker:6650". */
  readonly what: string;
}

/**
 * Runs `work` with a signal that is aborted by the deadline, with a `DeadlineError`, or by the
 * caller's signal. Waits for the work to settle even then, so that nothing is left running.
 */
export async function withDeadline<T>(
  timer: Timer,
  { ms, signal, what }: Deadline,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const done = new AbortController();
  timer.sleep(ms, done.signal).then(
    () => limit.abort(new DeadlineError(`${what} took longer than ${ms} ms`)),
    // The work was done in time.
    () => undefined,
  );
  const both = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  try {
    return await work(both);
  } finally {
    done.abort();
  }
}
