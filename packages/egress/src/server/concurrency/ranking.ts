/**
 * Items ordered by a count that changes by one at a time. Among equal counts the item that reached
 * the count first comes first. A change takes constant time; `lowest` and `highest` look at each
 * count that occurs, which is at most √(2 × sum of the counts) + 1 of them.
 */
export class Ranking<T> {
  readonly #byCount = new Map<number, Set<T>>();

  /** Moves an item; `undefined` stands for not ranked. */
  move(item: T, from: number | undefined, to: number | undefined): void {
    if (from !== undefined) this.#remove(item, from);
    if (to === undefined) return;
    const equals = this.#byCount.get(to);
    if (equals === undefined) this.#byCount.set(to, new Set([item]));
    else equals.add(item);
  }

  get lowest(): T | undefined {
    return this.#first(Math.min);
  }

  get highest(): T | undefined {
    return this.#first(Math.max);
  }

  #first(best: (...counts: number[]) => number): T | undefined {
    if (this.#byCount.size === 0) return undefined;
    const [item] = this.#byCount.get(best(...this.#byCount.keys())) ?? [];
    return item;
  }

  #remove(item: T, count: number): void {
    const equals = this.#byCount.get(count);
    equals?.delete(item);
    if (equals?.size === 0) this.#byCount.delete(count);
  }
}
