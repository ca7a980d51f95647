/** Somebody to tell that a signal was aborted. Must not throw. */
export interface AbortListener {
  handleEvent(): void;
}

/** Who listens to a signal; no entry means nobody does. */
const hearers = new WeakMap<AbortSignal, Hearers>();

/**
 * Tells `listener` when the signal is aborted, once. However many calls share a signal, such as the one
 * that ends a program, it gets one listener: of more than ten Node warns as of a leak, and each one
 * more takes longer to add than the one before.
 */
export function addAbortListener(signal: AbortSignal, listener: AbortListener): void {
  let heard = hearers.get(signal);
  if (heard === undefined) {
    heard = new Hearers(signal);
    hearers.set(signal, heard);
    signal.addEventListener("abort", heard);
  }
  heard.all.add(listener);
}

/** Takes back what `addAbortListener` did; the last one leaves the signal as it was. */
export function removeAbortListener(signal: AbortSignal, listener: AbortListener): void {
  const heard = hearers.get(signal);
  if (heard?.all.delete(listener) === true && heard.all.size === 0) heard.leave();
}

class Hearers {
  readonly all = new Set<AbortListener>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  handleEvent(): void {
    for (const listener of this.all) {
      this.all.delete(listener);
      listener.handleEvent();
    }
    this.leave();
  }

  leave(): void {
    hearers.delete(this.#signal);
    this.#signal.removeEventListener("abort", this);
  }
}
