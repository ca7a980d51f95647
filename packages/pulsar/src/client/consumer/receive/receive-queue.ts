import { Fifo, requireWhole } from "@sluice/core/internal";
import { ProtocolError } from "../../../wire/protocol-error.ts";

/** The messages of one frame, decoded one at a time on demand. */
export interface QueuedEntry<T> {
  /** The permits that the broker counts for it. */
  readonly permits: number;
  /**
   * The next message; undefined after the last. An error makes the rest of the entry unreadable.
   */
  next(): T | undefined;
}

export interface ReceiveQueueOptions<T> {
  /** Permits of the broker: messages that are queued or on their way. */
  readonly size: number;
  /** An entry turned out to be corrupt when it was decoded, and is dropped. */
  readonly onCorrupt: (entry: QueuedEntry<T>, error: unknown) => void;
}

/**
 * Entries beyond the permits before the broker counts as broken. A broker that counts entries
 * instead of messages may send 100 for the last permit.
 */
const UNASKED_ENTRIES_MAX = 1_000;

/**
 * The received messages that were not taken yet, and the permits that ask for more.
 *
 * Permits count messages: granted + queued + freed = `size` at all times. *Granted* is what the
 * broker may still send (negative if its last entry had more messages), *freed* is what was taken
 * since the last FLOW. FLOW is sent for at least half of `size` at a time, so messages that are not
 * taken are not asked for. A correct broker never makes the queue hold more than `size` and one
 * entry.
 *
 * Entries are not decoded until their turn: a compressed batch costs its bytes, not its messages.
 */
export class ReceiveQueue<T> {
  readonly #size: number;
  readonly #half: number;
  readonly #onCorrupt: (entry: QueuedEntry<T>, error: unknown) => void;
  #entries = new Fifo<QueuedEntry<T>>();
  /** Permits of the first entry that are not freed yet. */
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

  /** Messages in the queue. Some may turn out to be removed by compaction, or unreadable. */
  get queued(): number {
    return this.#queued;
  }

  /** Messages that the broker may still send; negative if it sent more than permitted. */
  get granted(): number {
    return this.#granted;
  }

  set isPaused(isPaused: boolean) {
    this.#isPaused = isPaused;
  }

  /** Adds an entry. Throws a `ProtocolError` if the broker ignores its permits. */
  add(entry: QueuedEntry<T>): void {
    // An entry with 0 permits takes memory all the same.
    const isAskedFor = this.#granted > 0 && entry.permits > 0;
    this.#unaskedEntries = isAskedFor ? 0 : this.#unaskedEntries + 1;
    if (this.#unaskedEntries > UNASKED_ENTRIES_MAX)
      throw new ProtocolError(`the broker sent ${UNASKED_ENTRIES_MAX} entries beyond its permits`);
    if (this.#entries.length === 0) this.#headPermits = entry.permits;
    this.#entries.push(entry);
    this.#granted -= entry.permits;
    this.#queued += entry.permits;
  }

  /** Frees the permits of an entry that is not queued. */
  skip(permits: number): void {
    this.#granted -= permits;
    this.#freed += permits;
  }

  /** The next message; undefined if the queue is empty. */
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

  /**
   * Permits for FLOW: 0 before half of `size` is free, and while the rest of a large batch fills the
   * queue, because permits that leave the broker's count below 1 bring nothing. They count as granted.
   */
  takeFreed(): number {
    const isFull = this.#queued >= this.#size;
    if (this.#freed < this.#half || isFull || this.#isPaused) return 0;
    const permits = this.#freed;
    this.#freed = 0;
    this.#granted += permits;
    return permits;
  }

  /** Drops all queued entries, which the broker redelivers. Entries on their way still come. */
  clear(): void {
    this.#entries = new Fifo();
    this.#headPermits = 0;
    this.#freed += this.#queued;
    this.#queued = 0;
  }

  /** Starts over with a broker that has no permits and redelivers everything. */
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
