/** Slots at the front that may be empty before the array is copied without them. */
const EMPTY_SLOTS_MAX = 32;

/**
 * First in, first out, in amortised constant time. Keeps no reference to an item that has left, and
 * at most as many empty slots as items, or 32.
 */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #head = 0;

  get length(): number {
    return this.#items.length - this.#head;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  peek(): T | undefined {
    return this.#items[this.#head];
  }

  /** The item that leaves after `index` others. */
  at(index: number): T | undefined {
    return index < 0 ? undefined : this.#items[this.#head + index];
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#head];
    this.#items[this.#head++] = undefined;
    if (this.#head > EMPTY_SLOTS_MAX && this.#head > this.length) {
      this.#items = this.#items.slice(this.#head);
      this.#head = 0;
    }
    return item;
  }
}
