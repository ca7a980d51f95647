import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
import { Heap } from "./heap.ts";

interface Delayed {
  readonly position: Position;
  readonly deliverAtMs: number;
  /** Of a Key_Shared subscription. */
  readonly keyHash?: number;
}

/**
 * Entries that wait for their delivery time, the earliest first. Only positions are kept; the log has
 * the entries. It holds `countMax` at most.
 */
export class DelayedEntries {
  readonly #countMax: number;
  readonly #heap = new Heap<Delayed>(compareDelayed);

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
    return this.#heap.first?.deliverAtMs;
  }

  add(delayed: Delayed): void {
    this.#heap.add(delayed);
  }

  /** Takes out one entry whose time has come. */
  takeDue(nowMs: number): Delayed | undefined {
    const { first } = this.#heap;
    return first === undefined || first.deliverAtMs > nowMs ? undefined : this.#heap.shift();
  }

  /** Forgets entries that are acknowledged; proportional to all that are kept. */
  forget(isAcked: (position: Position) => boolean): void {
    this.#heap.keep(({ position }) => !isAcked(position));
  }
}

function compareDelayed(a: Delayed, b: Delayed): number {
  return a.deliverAtMs - b.deliverAtMs || comparePositions(a.position, b.position);
}
