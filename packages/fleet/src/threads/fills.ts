import type { Fill } from "./accrual.ts";
import { fillWord, HEAD_WORD } from "./layout.ts";

/** A fill and the `head` under which it was read. */
export interface CurrentFill extends Fill {
  readonly head: bigint;
}

/**
 * The current fill, shared by all threads: its three words change at once or not at all.
 *
 * Each stripe has two slots for fills, and `head` names the current slot of all. A thread writes the
 * next fill into one of its own slots that is not current, then moves `head` to it by
 * compare-and-swap. A thread that ends in between has changed nothing. `head` also contains a
 * counter, so that no value of it occurs twice (the ABA problem).
 */
export class Fills {
  readonly #words: BigInt64Array<SharedArrayBuffer>;
  readonly #places: bigint;

  constructor(memory: SharedArrayBuffer, maxThreads: number) {
    this.#words = new BigInt64Array(memory);
    this.#places = BigInt(2 * maxThreads);
  }

  /** Writes the first fill, before other threads have the memory. */
  start(fill: Fill): void {
    this.#write(0, fill);
    Atomics.store(this.#words, HEAD_WORD, 0n);
  }

  read(): CurrentFill {
    for (;;) {
      const head = Atomics.load(this.#words, HEAD_WORD);
      const word = fillWord(this.#placeOf(head));
      const atNanos = Atomics.load(this.#words, word);
      const issued = Atomics.load(this.#words, word + 1);
      const level = Atomics.load(this.#words, word + 2);
      // If the head has moved, the words may belong to two fills.
      if (Atomics.load(this.#words, HEAD_WORD) === head) return { head, atNanos, issued, level };
    }
  }

  /** Makes `next` the current fill in place of `current`, unless another thread was faster. */
  replace({ head }: CurrentFill, next: Fill, stripe: number): boolean {
    const place = this.#placeOf(head) === 2 * stripe ? 2 * stripe + 1 : 2 * stripe;
    this.#write(place, next);
    const nextHead = (head / this.#places + 1n) * this.#places + BigInt(place);
    return Atomics.compareExchange(this.#words, HEAD_WORD, head, nextHead) === head;
  }

  #write(place: number, { atNanos, issued, level }: Fill): void {
    const word = fillWord(place);
    Atomics.store(this.#words, word, atNanos);
    Atomics.store(this.#words, word + 1, issued);
    Atomics.store(this.#words, word + 2, level);
  }

  #placeOf(head: bigint): number {
    return Number(head % this.#places);
  }
}
