import { invariant, requireWhole } from "../errors.ts";
import { Line } from "./line.ts";
import type { Waiter } from "./line.ts";

export interface SemaphoreOptions<W extends Waiter> {
  /** Most that may wait. 0: nobody waits. */
  readonly maxWaiting: number;
  /**
   * Asked for whoever is next when there is room; what it admits starts at once. While it is
   * closed the line stands still, and whoever opens it calls `handOver`.
   */
  readonly door?: (weight: number) => boolean;
  /** Takes the permits that a waiter has waited for. */
  readonly onPermit: (waiter: W) => void;
  /** Whether whoever is next has waited too long to begin. Nobody has unless given. */
  readonly isLate?: (waiter: W) => boolean;
  /** Takes who was late, out of the line by then. */
  readonly onLate?: (waiter: W) => void;
}

/**
 * Permits that can be resized while they are out, given first come, first served.
 *
 * A permit that comes back is handed to the head of the line in the same step, never freed and
 * taken again, so that a newcomer cannot overtake. Shrinking takes nothing back from who has it:
 * nothing is handed over until the use has fallen below the new limit.
 */
export class Semaphore<W extends Waiter> {
  readonly #line = new Line<W>();
  readonly #maxWaiting: number = 0;
  readonly #door: ((weight: number) => boolean) | undefined;
  readonly #onPermit: (waiter: W) => void;
  readonly #isLate: ((waiter: W) => boolean) | undefined;
  readonly #onLate: ((waiter: W) => void) | undefined;
  #limit = 1;
  #inUse = 0;
  #isHandingOver = false;

  constructor(limit: number, options: SemaphoreOptions<W>) {
    requireWhole("limit", limit, 1);
    requireWhole("maxWaiting", options.maxWaiting, 0, MAX_WAITING);
    this.#limit = limit;
    this.#maxWaiting = options.maxWaiting;
    this.#door = options.door;
    this.#onPermit = options.onPermit;
    this.#isLate = options.isLate;
    this.#onLate = options.onLate;
  }

  get limit(): number {
    return this.#limit;
  }

  /** A raised limit lets nobody in by itself: `handOver` or the next permit that ends does. */
  set limit(limit: number) {
    invariant(limit >= 1, "a limit is at least 1");
    this.#limit = limit;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Who is next. */
  get first(): W | undefined {
    return this.#line.first;
  }

  /** Who came last among those of the lowest priority. */
  get last(): W | undefined {
    return this.#line.last;
  }

  /** Who waits now, the next first. */
  waiters(): W[] {
    return this.#line.waiters();
  }

  /** Whether `weight` permits are free. Who wants more than the limit gets them once all are back. */
  hasRoom(weight: number): boolean {
    return this.#inUse === 0 || this.#inUse + weight <= this.#limit;
  }

  /** Takes permits at once, unless somebody of the same or a higher priority waits. */
  tryAcquire(weight: number, priority: number): boolean {
    const first = this.#line.first;
    if (first !== undefined && first.priority >= priority) return false;
    return this.#admit(weight);
  }

  /** Takes permits that may not be there, past everybody; they come back like any others. */
  forceAcquire(weight: number): void {
    this.#inUse += weight;
  }

  /**
   * Joins the line. Answers who does not get a place when it is full: the newcomer, or whoever
   * came last among those of a lower priority.
   */
  wait(waiter: W): W | undefined {
    let turnedAway: W | undefined;
    if (this.#line.length >= this.#maxWaiting) {
      const last = this.#line.last;
      if (last === undefined || last.priority >= waiter.priority) return waiter;
      this.#line.leave(last);
      turnedAway = last;
    }
    this.#line.join(waiter);
    return turnedAway;
  }

  /** Leaves the line. False if the permits were handed over already, or nobody waited. */
  cancel(waiter: W): boolean {
    const wasFirst = this.#line.first === waiter;
    const left = this.#line.leave(waiter);
    // A head that wanted more than there was may have held up others that want less.
    if (wasFirst) this.handOver();
    return left;
  }

  release(weight: number): void {
    invariant(weight <= this.#inUse, "no more permits come back than were given");
    this.#inUse -= weight;
    this.handOver();
  }

  /** Gives what is free to whoever is next and not late. */
  handOver(): void {
    // A waiter that starts may end at once and come back here: the loop below goes on with it.
    if (this.#isHandingOver) return;
    this.#isHandingOver = true;
    try {
      for (;;) {
        const first = this.#line.first;
        if (first === undefined) return;
        if (this.#isLate?.(first) === true) {
          this.#line.leave(first);
          this.#onLate?.(first);
          continue;
        }
        if (!this.#admit(first.weight)) return;
        this.#line.leave(first);
        this.#onPermit(first);
      }
    } finally {
      this.#isHandingOver = false;
    }
  }

  #admit(weight: number): boolean {
    if (!this.hasRoom(weight) || this.#door?.(weight) === false) return false;
    this.#inUse += weight;
    return true;
  }
}

const MAX_WAITING = 10_000_000;
