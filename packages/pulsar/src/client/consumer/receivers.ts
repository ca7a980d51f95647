import { InvariantError } from "@sluice/core";
import { UnreadableMessageError } from "./unreadable-message-error.ts";

interface Receiver<T> {
  readonly resolve: (item: T) => void;
  readonly reject: (reason: unknown) => void;
  readonly stop: () => void;
}

/** Calls that wait at once. More are a loop that forgot to await. */
const WAITING_MAX = 100_000;

/**
 * Who waits for a message, first come first served. `take` gives what there is now; whoever adds to
 * that calls `serve`, so that nobody waits while there is something to take.
 */
export class Receivers<T> {
  readonly #take: () => T | UnreadableMessageError | undefined;
  // A set keeps the order, and whoever gives up leaves from anywhere.
  readonly #waiting = new Set<Receiver<T>>();
  #endedBecause: Error | undefined;

  constructor(take: () => T | UnreadableMessageError | undefined) {
    this.#take = take;
  }

  get waiting(): number {
    return this.#waiting.size;
  }

  receive(signal?: AbortSignal): Promise<T> {
    if (this.#endedBecause !== undefined) return Promise.reject(this.#endedBecause);
    if (signal?.aborted === true) return rejected(signal.reason);
    const item = this.#take();
    if (item === undefined) return this.#wait(signal);
    return item instanceof UnreadableMessageError ? Promise.reject(item) : Promise.resolve(item);
  }

  /** Gives away what there is. */
  serve(): void {
    for (const receiver of this.#waiting) {
      const item = this.#take();
      if (item === undefined) return;
      this.#leave(receiver);
      if (item instanceof UnreadableMessageError) receiver.reject(item);
      else receiver.resolve(item);
    }
  }

  /** Nothing comes any more: all who wait, and all who come, are told why. */
  end(because: Error): void {
    this.#endedBecause ??= because;
    for (const receiver of this.#waiting) {
      this.#leave(receiver);
      receiver.reject(because);
    }
  }

  #wait(signal: AbortSignal | undefined): Promise<T> {
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(new InvariantError(`${WAITING_MAX} calls of receive wait already`));
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      const onAbort = (): void => {
        this.#leave(receiver);
        reject(signal?.reason);
      };
      const stop = (): void => signal?.removeEventListener("abort", onAbort);
      const receiver: Receiver<T> = { resolve, reject, stop };
      this.#waiting.add(receiver);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }

  #leave(receiver: Receiver<T>): void {
    this.#waiting.delete(receiver);
    receiver.stop();
  }
}

function rejected(reason: unknown): Promise<never> {
  return new Promise((_, reject: (reason: unknown) => void) => reject(reason));
}
