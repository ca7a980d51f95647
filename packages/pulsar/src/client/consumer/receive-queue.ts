import { Fifo, requireWhole } from "@sluice/core/internal";
import { ProtocolError } from "../../wire/protocol-error.ts";

/** What came in one frame: a few messages, made one at a time as they are asked for. */
export interface QueuedEntry<T> {
  /** What the broker counts it as. */
  readonly permits: number;
  /** The next message; nothing after the last. Whatever it throws makes the rest unreadable. */
  next(): T | undefined;
}

export interface ReceiveQueueOptions<T> {
  /** Permits that the broker gets: so many messages may be queued or on their way. */
  readonly size: number;
  /** An entry turned out to be unreadable when it was opened. It is dropped. */
  readonly onCorrupt: (entry: QueuedEntry<T>, error: unknown) => void;
}

/**
 * A broker that counts in entries may send 100 of them for the last permit. Whoever sends many more
 * than that does not count at all.
 */
const UNASKED_ENTRIES_MAX = 1_000;

/**
 * What has come and is not taken, and the permits that ask for more.
 *
 * Permits count messages: granted + queued + freed = `size` at all times, where *granted* is what
 * the broker may still send (below zero if its last entry was larger than that) and *freed* is what
 * has been taken since it was last told. It is told by halves of `size`, so what nobody takes is not
 * asked for. A broker that keeps to its permits makes the queue hold less than `size` and one entry.
 *
 * Entries stay as they came until their turn: a compressed batch costs its bytes, not its messages.
 */
export class ReceiveQueue<T> {
  readonly #size: number;
  readonly #half: number;
  readonly #onCorrupt: (entry: QueuedEntry<T>, error: unknown) => void;
  #entries = new Fifo<QueuedEntry<T>>();
  /** Of the entry at the head: its permits that are not freed yet. */
  #headPermits = 0;
  #queued = 0;
  #granted = 0;
  #freed = 0;
  #unaskedEntries = 0;
  #isPaused = false;

  constructor({ size, onCorrupt }: ReceiveQueueOptions<T>) {
    requireWhole("receiverQueueSize", size, 1, 1_000_000);
    this.#size = size;
    this.#half = Math.max(1, Math.floor(size / 2));
    this.#onCorrupt = onCorrupt;
    this.#freed = size;
  }

  /** Messages in it. Some may turn out not to be there: deleted by compaction, or unreadable. */
  get queued(): number {
    return this.#queued;
  }

  /** What the broker may still send; negative if it sent more than it was asked for. */
  get granted(): number {
    return this.#granted;
  }

  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
  }

  /** Takes an entry in. One from a broker that ignores its permits is a `ProtocolError`. */
  add(entry: QueuedEntry<T>): void {
    // One that counts as nothing takes room all the same.
    const isAskedFor = this.#granted > 0 && entry.permits > 0;
    this.#unaskedEntries = isAskedFor ? 0 : this.#unaskedEntries + 1;
    if (this.#unaskedEntries > UNASKED_ENTRIES_MAX)
      throw new ProtocolError(`the broker sent ${UNASKED_ENTRIES_MAX} entries beyond its permits`);
    if (this.#entries.length === 0) this.#headPermits = entry.permits;
    this.#entries.push(entry);
    this.#granted -= entry.permits;
    this.#queued += entry.permits;
  }

  /** An entry came that is not for the queue: its permits are as good as used. */
  skip(permits: number): void {
    this.#granted -= permits;
    this.#freed += permits;
  }

  /** The next message, or nothing before more comes. */
  take(): T | undefined {
    for (let head = this.#entries.peek(); head !== undefined; head = this.#entries.peek()) {
      const item = this.#nextOf(head);
      if (item !== undefined) {
        this.#free(Math.min(1, this.#headPermits));
        return item;
      }
      this.#free(this.#headPermits);
      this.#entries.shift();
      this.#headPermits = this.#entries.peek()?.permits ?? 0;
    }
    return undefined;
  }

  /** Permits to give the broker now, none before half of them are free; they count as given. */
  takeFreed(): number {
    if (this.#freed < this.#half || this.#isPaused) return 0;
    const permits = this.#freed;
    this.#freed = 0;
    this.#granted += permits;
    return permits;
  }

  /** Drops what is queued: it will come again. What is on its way still comes. */
  clear(): void {
    this.#entries = new Fifo();
    this.#headPermits = 0;
    this.#freed += this.#queued;
    this.#queued = 0;
  }

  /** Starts anew towards a broker that knows of no permits and will send all again. */
  reset(): void {
    this.clear();
    this.#granted = 0;
    this.#freed = this.#size;
    this.#unaskedEntries = 0;
  }

  #nextOf(entry: QueuedEntry<T>): T | undefined {
    try {
      return entry.next();
    } catch (error) {
      this.#onCorrupt(entry, error);
      return undefined;
    }
  }

  #free(permits: number): void {
    this.#headPermits -= permits;
    this.#queued -= permits;
    this.#freed += permits;
  }
}
