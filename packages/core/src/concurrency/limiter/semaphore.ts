import { InvariantError, requireCount, requireWhole } from "../../errors.ts";
import { WaiterQueue } from "./waiter-queue.ts";
import type { Waiter } from "./waiter-queue.ts";

export interface SemaphoreOptions<W extends Waiter> {
  /** Most waiters in the queue. 0: every request that cannot be admitted at once is turned away. */
  readonly maxWaiting: number;
  /**
   * A further condition, asked when there is room; what it admits starts at once. While it returns
   * false the queue stands still; call `handOver` when it would return true. Default: none.
   */
  readonly admit?: (weight: number) => boolean;
  /** A request did not fit into what is free. */
  readonly onNoRoom?: () => void;
  /** Takes the permits that a waiter has waited for. Must not throw. */
  readonly onPermit: (waiter: W) => void;
  /** Whether the next waiter has waited too long to start. Must not throw. Default: never. */
  readonly isLate?: (waiter: W) => boolean;
  /** Takes a late waiter, which has left the queue. Must not throw. */
  readonly onLate?: (waiter: W) => void;
}

/** Most waiters and largest weight: sums of weights stay exact. */
const MAX_WAITING = 10_000_000;
const MAX_WEIGHT = 1_000_000_000;

/**
 * Permits that can be resized while they are out, given in order of priority, then of arrival.
 *
 * A permit that comes back is handed to the first waiter in the same step, never freed and taken
 * again, so that a newcomer cannot overtake. Shrinking takes no permit back: nothing is handed over
 * until the use has fallen below the new limit.
 *
 * @example
 * const semaphore = new Semaphore(2, { maxWaiting: 100, onPermit: (waiter) => waiter.start() });
 * if (semaphore.tryAcquire(1, 0)) start();
 * else semaphore.wait({ weight: 1, priority: 0, start });
 */
export class Semaphore<W extends Waiter> {
  readonly #queue = new WaiterQueue<W>();
  readonly #options: SemaphoreOptions<W>;
  #limit = 1;
  #inUse = 0;
  #isHandingOver = false;

  constructor(limit: number, options: SemaphoreOptions<W>) {
    requireWhole("limit", limit, 1);
    requireWhole("maxWaiting", options.maxWaiting, 0, MAX_WAITING);
    this.#limit = limit;
    this.#options = options;
  }

  get limit(): number {
    return this.#limit;
  }

  /** A raised limit admits waiters with the next `handOver` or the next permit that ends. */
  set limit(limit: number) {
    // Texts of errors are made for errors only: this is set, and the priority looked at, for every permit.
    if (!(limit >= 1)) throw new InvariantError(`limit is ${limit}; it must be at least 1`);
    this.#limit = limit;
  }

  get inUse(): number {
    return this.#inUse;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** The next waiter. */
  get first(): W | undefined {
    return this.#queue.first;
  }

  /** The latest arrival of the lowest priority. */
  get last(): W | undefined {
    return this.#queue.last;
  }

  /** All waiters in order, as a copy. */
  waiters(): W[] {
    return this.#queue.waiters();
  }

  /** Whether `weight` permits are free. More than the limit are given once all permits are back. */
  hasRoom(weight: number): boolean {
    return this.#inUse === 0 || this.#inUse + weight <= this.#limit;
  }

  /** Takes permits at once, unless a waiter of the same or a higher priority is in the queue. */
  tryAcquire(weight: number, priority: number): boolean {
    requireWeight(weight);
    if (!Number.isFinite(priority))
      throw new InvariantError(`priority is ${priority}; use a finite number`);
    return !this.#isBehind(priority) && this.#tryTake(weight);
  }

  /** What `tryAcquire` would answer if `admit` has no objection. */
  canAcquire(weight: number, priority: number): boolean {
    requireWeight(weight);
    return !this.#isBehind(priority) && this.hasRoom(weight);
  }

  /** Takes permits that may not be free, past the queue; they come back like any others. */
  forceAcquire(weight: number): void {
    requireWeight(weight);
    this.#inUse += weight;
  }

  /**
   * Takes permits at once if `tryAcquire` would, and joins the queue otherwise. Returns the waiter that
   * is turned away because the queue is full: the newcomer, or the last of a lower priority.
   */
  wait(waiter: W): W | undefined {
    if (this.tryAcquire(waiter.weight, waiter.priority)) {
      this.#options.onPermit(waiter);
      return undefined;
    }
    let turnedAway: W | undefined;
    if (this.#queue.length >= this.#options.maxWaiting) {
      const last = this.#queue.last;
      if (last === undefined || last.priority >= waiter.priority) return waiter;
      this.#queue.leave(last);
      turnedAway = last;
    }
    this.#queue.join(waiter);
    return turnedAway;
  }

  /** Leaves the queue. False if the permits were handed over already, or it never waited. */
  cancel(waiter: W): boolean {
    const wasFirst = this.#queue.first === waiter;
    const left = this.#queue.leave(waiter);
    // A heavy first waiter may have blocked lighter ones.
    if (wasFirst) this.handOver();
    return left;
  }

  release(weight: number): void {
    if (weight > this.#inUse)
      throw new InvariantError(
        `${weight} permits come back, but only ${this.#inUse} are out; end each permit once`,
      );
    this.#inUse -= weight;
    this.handOver();
  }

  /** Gives what is free to the next waiters that are not late. */
  handOver(): void {
    // A waiter that starts may end at once and come back here; the loop below goes on with the next.
    if (this.#isHandingOver) return;
    const { isLate, onLate, onPermit } = this.#options;
    this.#isHandingOver = true;
    try {
      for (;;) {
        const first = this.#queue.first;
        if (first === undefined) return;
        if (isLate?.(first) === true) {
          this.#queue.leave(first);
          onLate?.(first);
          continue;
        }
        if (!this.#tryTake(first.weight)) return;
        this.#queue.leave(first);
        onPermit(first);
      }
    } finally {
      this.#isHandingOver = false;
    }
  }

  #isBehind(priority: number): boolean {
    const first = this.#queue.first;
    return first !== undefined && first.priority >= priority;
  }

  #tryTake(weight: number): boolean {
    const { admit, onNoRoom } = this.#options;
    if (!this.hasRoom(weight)) {
      onNoRoom?.();
      return false;
    }
    if (admit?.(weight) === false) return false;
    this.#inUse += weight;
    return true;
  }
}

function requireWeight(weight: number): void {
  requireCount("weight", weight, 1, MAX_WEIGHT);
}
