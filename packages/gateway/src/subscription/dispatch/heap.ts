/** A binary heap: the first by `compare` is known at once; adding and taking one take O(log n). */
export class Heap<T> {
  readonly #compare: (a: T, b: T) => number;
  #items: T[] = [];

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare;
  }

  get length(): number {
    return this.#items.length;
  }

  get first(): T | undefined {
    return this.#items[0];
  }

  add(item: T): void {
    this.#items.push(item);
    let at = this.#items.length - 1;
    while (at > 0 && this.#swapIfBefore(at, (at - 1) >> 1)) at = (at - 1) >> 1;
  }

  /** Takes out the first. */
  shift(): T | undefined {
    const first = this.#items[0];
    const last = this.#items.pop();
    if (last !== undefined && this.#items.length > 0) {
      this.#items[0] = last;
      this.#sink(0);
    }
    return first;
  }

  /** Keeps only some; proportional to all that are there. */
  keep(stays: (item: T) => boolean): void {
    const left = this.#items.filter(stays);
    if (left.length === this.#items.length) return;
    this.#items = left;
    for (let at = left.length >> 1; at >= 0; at--) this.#sink(at);
  }

  #sink(from: number): void {
    for (let at = from; ;) {
      const left = 2 * at + 1;
      const child = this.#isBefore(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfBefore(child, at)) return;
      at = child;
    }
  }

  #swapIfBefore(child: number, parent: number): boolean {
    const [below, above] = [this.#items[child], this.#items[parent]];
    if (below === undefined || above === undefined || this.#compare(below, above) >= 0)
      return false;
    this.#items[child] = above;
    this.#items[parent] = below;
    return true;
  }

  #isBefore(one: number, other: number): boolean {
    const [a, b] = [this.#items[one], this.#items[other]];
    return a !== undefined && b !== undefined && this.#compare(a, b) < 0;
  }
}
