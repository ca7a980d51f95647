import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";

interface Delayed {
  readonly position: Position;
  readonly deliverAtMs: number;
  /** Of a Key_Shared subscription. */
  readonly keyHash?: number;
}

/**
 * Entries that wait for their delivery time: a binary heap, the earliest first. Only positions are
 * kept; the log has the entries. It holds `countMax` at most.
 */
export class DelayedEntries {
  readonly #countMax: number;
  #heap: Delayed[] = [];

  constructor(countMax: number) {
    this.#countMax = countMax;
  }

  get length(): number {
    return this.#heap.length;
  }

  get isFull(): boolean {
    return this.#heap.length >= this.#countMax;
  }

  /** Of the earliest; undefined if there is none. */
  get nextDueMs(): number | undefined {
    return this.#heap[0]?.deliverAtMs;
  }

  add(delayed: Delayed): void {
    this.#heap.push(delayed);
    this.#rise(this.#heap.length - 1);
  }

  /** Takes out one entry whose time has come. */
  takeDue(nowMs: number): Delayed | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.deliverAtMs > nowMs) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && last !== first) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  /** Forgets entries that are acknowledged; proportional to all that are kept. */
  forget(isAcked: (position: Position) => boolean): void {
    const left = this.#heap.filter(({ position }) => !isAcked(position));
    if (left.length === this.#heap.length) return;
    this.#heap = left.toSorted(compareDelayed);
  }

  #rise(from: number): void {
    let at = from;
    while (at > 0 && this.#swapIfEarlier(at, (at - 1) >> 1)) at = (at - 1) >> 1;
  }

  #sink(): void {
    for (let at = 0; ;) {
      const left = 2 * at + 1;
      const child = this.#isEarlier(left + 1, left) ? left + 1 : left;
      if (!this.#swapIfEarlier(child, at)) return;
      at = child;
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const [below, above] = [this.#heap[child], this.#heap[parent]];
    if (below === undefined || above === undefined || compareDelayed(below, above) >= 0)
      return false;
    this.#heap[child] = above;
    this.#heap[parent] = below;
    return true;
  }

  #isEarlier(one: number, other: number): boolean {
    const [a, b] = [this.#heap[one], this.#heap[other]];
    return a !== undefined && b !== undefined && compareDelayed(a, b) < 0;
  }
}

function compareDelayed(a: Delayed, b: Delayed): number {
  return a.deliverAtMs - b.deliverAtMs || comparePositions(a.position, b.position);
}
