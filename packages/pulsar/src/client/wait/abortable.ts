import { addAbortListener, removeAbortListener } from "@sluice/core/internal";

/** Waits for work that others share: the signal ends this wait, not the work. */
export async function abortable<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  signal.throwIfAborted();
  return new Promise((resolve, reject: (reason: unknown) => void) => {
    const listener = { handleEvent: () => reject(signal.reason) };
    addAbortListener(signal, listener);
    work.then(resolve, reject).finally(() => removeAbortListener(signal, listener));
  });
}
