import { ConfigError } from "@sluice/core";

/**
 * A function that is called through a gate. With a deadline, a timeout or a signal it gets a signal that is
 * aborted when its caller no longer waits. Without, one that never is, and unless it declares a parameter
 * for it, one that all such functions share.
 */
export type Work<T> = (signal: AbortSignal) => T | PromiseLike<T>;

/** A signal that is never aborted; one of its own for a function that may leave a listener on it. */
export function signalFor<T>(work: Work<T>): AbortSignal {
  return work.length === 0 ? NEVER : new AbortController().signal;
}

const NEVER = new AbortController().signal;

/** Refuses a value that is no function, such as the promise of a call that has begun without the gate. */
export function requireWork(work: unknown): void {
  if (typeof work === "function") return;
  if (!(work instanceof Promise))
    throw new ConfigError(`run was given ${String(work)}; give it the function to call`);
  // The caller gets an error for the mistake; a rejection of the promise is no second one.
  work.catch(() => undefined);
  throw new ConfigError(
    "run was given a promise, whose call has begun already; use gate.run(() => fetch(url))",
  );
}
