import { Fifo } from "@sluice/core/internal";
import { joinBatches, sliceBatch } from "./batch.ts";
import type { Batch } from "./batch.ts";

/**
 * Messages between two vertices, in order, at most `capacity`. Batches stay whole where the reader has room
 * for them, so that a message is not copied on its way.
 */
export class BatchBuffer {
  readonly capacity: number;
  readonly #batches = new Fifo<Batch>();
  /** Messages of the first batch that were taken. */
  #taken = 0;
  #size = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
  }

  get size(): number {
    return this.#size;
  }

  get room(): number {
    return this.capacity - this.#size;
  }

  /** Puts messages from `from` on, as many as there is room for. Answers the index of the first one left out. */
  put(batch: Batch, from: number = 0): number {
    const { length } = batch.messages;
    const to = Math.min(length, from + this.room);
    if (to === from) return from;
    this.#batches.push(from === 0 && to === length ? batch : sliceBatch(batch, from, to));
    this.#size += to - from;
    return to;
  }

  /** The first messages, at most `countMax`. */
  take(countMax: number): Batch {
    const parts: Batch[] = [];
    let missing = countMax;
    while (missing > 0) {
      const part = this.#takePart(missing);
      if (part === undefined) break;
      parts.push(part);
      missing -= part.messages.length;
    }
    const taken = joinBatches(parts);
    this.#size -= taken.messages.length;
    return taken;
  }

  #takePart(countMax: number): Batch | undefined {
    const first = this.#batches.peek();
    if (first === undefined) return undefined;
    const from = this.#taken;
    const to = Math.min(first.messages.length, from + countMax);
    if (to < first.messages.length) this.#taken = to;
    else {
      this.#taken = 0;
      this.#batches.shift();
    }
    return to - from === first.messages.length ? first : sliceBatch(first, from, to);
  }
}
