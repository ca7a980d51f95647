import { throwLater } from "../throw-later.ts";

/** Told that a signal was aborted. What it throws becomes an unhandled rejection; the others are told. */
export interface AbortListener {
  handleEvent(): void;
}

/** One entry per signal that has at least one listener. */
const groups = new WeakMap<AbortSignal, ListenerGroup>();

/**
 * Tells `listener` once when the signal is aborted. All listeners of one signal share a single event
 * listener, so a signal that ends a whole program can be passed to any number of calls. Node warns of a
 * leak from the eleventh event listener on, and adding n of them takes n² / 2 comparisons.
 */
export function addAbortListener(signal: AbortSignal, listener: AbortListener): void {
  let group = groups.get(signal);
  if (group === undefined) {
    group = new ListenerGroup(signal);
    groups.set(signal, group);
    signal.addEventListener("abort", group);
  }
  group.listeners.add(listener);
}

/** Undoes `addAbortListener`. The signal keeps no event listener after the last removal. */
export function removeAbortListener(signal: AbortSignal, listener: AbortListener): void {
  const group = groups.get(signal);
  if (group?.listeners.delete(listener) === true && group.listeners.size === 0) group.detach();
}

class ListenerGroup {
  readonly listeners = new Set<AbortListener>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  handleEvent(): void {
    for (const listener of this.listeners) {
      this.listeners.delete(listener);
      try {
        listener.handleEvent();
      } catch (error) {
        void throwLater(error);
      }
    }
    this.detach();
  }

  detach(): void {
    groups.delete(this.#signal);
    this.#signal.removeEventListener("abort", this);
  }
}
