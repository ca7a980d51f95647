import type { Timer } from "@sluice/core";

/** Sleeps, or returns at once when the signal aborts. */
export async function pause(timer: Timer, ms: number, signal: AbortSignal): Promise<void> {
  try {
    await timer.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Waits for an event that `subscribe` reports, at most `ms`, or until the signal aborts. */
export async function waitForEvent(
  subscribe: (happened: () => void) => () => void,
  {
    timer,
    ms,
    signal,
  }: { readonly timer: Timer; readonly ms: number; readonly signal: AbortSignal },
): Promise<void> {
  if (signal.aborted || ms <= 0) return;
  const ended = new AbortController();
  const end = (): void => ended.abort();
  const unsubscribe = subscribe(end);
  signal.addEventListener("abort", end, { once: true });
  try {
    await pause(timer, ms, ended.signal);
  } finally {
    unsubscribe();
    signal.removeEventListener("abort", end);
  }
}
