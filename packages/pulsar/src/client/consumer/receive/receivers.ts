import { InvariantError } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";
import type { AbortListener } from "@sluice/core/internal";
import { UnreadableMessageError } from "./unreadable-message-error.ts";

/** One waiting call of `receive`. */
interface Receiver<T> extends AbortListener {
  readonly resolve: (item: T) => void;
  readonly reject: (reason: unknown) => void;
  readonly signal: AbortSignal | undefined;
}

/** Waiting calls of one consumer. More come from a loop that does not await `receive`. */
const WAITING_MAX = 100_000;

/**
 * The waiting calls of `receive`, first come, first served. `take` returns the next queued message; the
 * code that queues messages calls `serve` afterwards, so that no call waits beside a queued message.
 */
export class Receivers<T> {
  readonly #take: () => T | UnreadableMessageError | undefined;
  // A set keeps the order and lets an aborted call leave from anywhere.
  readonly #waiting = new Set<Receiver<T>>();
  /** An unreadable message that `takeQueued` found behind readable ones. */
  #unreadable: UnreadableMessageError | undefined;
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
    const item = this.#next();
    if (item === undefined) return this.#wait(signal);
    return item instanceof UnreadableMessageError ? Promise.reject(item) : Promise.resolve(item);
  }

  /**
   * At most `countMax` queued messages, without waiting. Throws for an unreadable message that comes first;
   * one that comes later ends the list, and the next call throws for it.
   */
  takeQueued(countMax: number): T[] {
    if (this.#endedBecause !== undefined) throw this.#endedBecause;
    const taken: T[] = [];
    // Messages belong to the calls that wait, if there are any.
    if (this.#waiting.size > 0) return taken;
    while (taken.length < countMax) {
      const item = this.#next();
      if (item === undefined) break;
      if (item instanceof UnreadableMessageError) {
        if (taken.length === 0) throw item;
        this.#unreadable = item;
        break;
      }
      taken.push(item);
    }
    return taken;
  }

  /** Hands queued messages to the waiting calls. */
  serve(): void {
    for (const receiver of this.#waiting) {
      const item = this.#next();
      if (item === undefined) return;
      this.#leave(receiver);
      if (item instanceof UnreadableMessageError) receiver.reject(item);
      else receiver.resolve(item);
    }
  }

  /** Rejects all waiting and all later calls with `because`. */
  end(because: Error): void {
    this.#endedBecause ??= because;
    for (const receiver of this.#waiting) {
      this.#leave(receiver);
      receiver.reject(because);
    }
  }

  #next(): T | UnreadableMessageError | undefined {
    const unreadable = this.#unreadable;
    if (unreadable === undefined) return this.#take();
    this.#unreadable = undefined;
    return unreadable;
  }

  #wait(signal: AbortSignal | undefined): Promise<T> {
    if (this.#waiting.size >= WAITING_MAX)
      return Promise.reject(
        new InvariantError(
          `${WAITING_MAX} calls of receive wait already; await each call before the next`,
        ),
      );
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      const receiver: Receiver<T> = {
        resolve,
        reject,
        signal,
        handleEvent: () => {
          this.#waiting.delete(receiver);
          reject(signal?.reason);
        },
      };
      this.#waiting.add(receiver);
      if (signal !== undefined) addAbortListener(signal, receiver);
    });
  }

  #leave(receiver: Receiver<T>): void {
    this.#waiting.delete(receiver);
    if (receiver.signal !== undefined) removeAbortListener(receiver.signal, receiver);
  }
}

function rejected(reason: unknown): Promise<never> {
  return new Promise((_, reject: (reason: unknown) => void) => reject(reason));
}
