import type { Batch } from "../../flow/batch.ts";
import { BatchBuffer } from "../../flow/batch-buffer.ts";
import { Wakeup } from "./wakeup.ts";

/** The buffer between two vertices, and the wake-ups of the loops on both of its sides. */
export class Channel {
  readonly #buffer: BatchBuffer;
  /** Rung when messages came, or none will come. */
  readonly filled: Wakeup = new Wakeup();
  /** Rung when messages were taken. */
  readonly freed: Wakeup = new Wakeup();
  #isEnded = false;

  constructor(capacity: number) {
    this.#buffer = new BatchBuffer(capacity);
  }

  get capacity(): number {
    return this.#buffer.capacity;
  }

  get size(): number {
    return this.#buffer.size;
  }

  get room(): number {
    return this.#buffer.room;
  }

  /** Whether nothing is put any more. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Puts messages from `from` on, as many as there is room for. Answers the index of the first one left out. */
  put(batch: Batch, from: number = 0): number {
    const to = this.#buffer.put(batch, from);
    if (to > from) this.filled.ring();
    return to;
  }

  take(countMax: number): Batch {
    const batch = this.#buffer.take(countMax);
    this.freed.ring();
    return batch;
  }

  end(): void {
    this.#isEnded = true;
    this.filled.ring();
  }

  wakeAll(): void {
    this.filled.ring();
    this.freed.ring();
  }
}
