import { invariant } from "../../errors.ts";

/** A request for permits that waits. Queues link waiters, so a waiter is in one queue at most. */
export interface Waiter {
  /** Permits wanted: a whole number, at least 1. */
  readonly weight: number;
  /** Higher goes first; equals go in order of arrival. */
  readonly priority: number;
  /** Kept by the queue. Declaring it as undefined from the start makes linking faster. */
  link?: WaiterLink | undefined;
}

/** Where a waiter is. */
export interface WaiterLink {
  readonly queue: object;
  readonly waiter: Waiter;
  before: WaiterLink | undefined;
  after: WaiterLink | undefined;
}

/**
 * Waiters by priority, then by arrival. Leaving takes constant time from any position; joining walks
 * past waiters of a lower priority only.
 */
export class WaiterQueue<W extends Waiter> {
  #head: WaiterLink | undefined;
  #tail: WaiterLink | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): W | undefined {
    // Only waiters of type W are ever linked into this queue.
    return this.#head?.waiter as W | undefined;
  }

  /** The latest arrival of the lowest priority. */
  get last(): W | undefined {
    return this.#tail?.waiter as W | undefined;
  }

  /** All waiters in order, as a copy. */
  waiters(): W[] {
    const waiters: W[] = [];
    for (let link = this.#head; link !== undefined; link = link.after)
      waiters.push(link.waiter as W);
    return waiters;
  }

  join(waiter: W): void {
    invariant(waiter.link === undefined, "a waiter is in one queue at most; it is in one already");
    let before = this.#tail;
    while (before !== undefined && before.waiter.priority < waiter.priority) before = before.before;
    const after = before === undefined ? this.#head : before.after;
    const link: WaiterLink = { queue: this, waiter, before, after };
    if (before === undefined) this.#head = link;
    else before.after = link;
    if (after === undefined) this.#tail = link;
    else after.before = link;
    waiter.link = link;
    this.#length++;
  }

  /** False if the waiter is not in this queue. */
  leave(waiter: W): boolean {
    const link = waiter.link;
    if (link === undefined || link.queue !== this) return false;
    waiter.link = undefined;
    if (link.before === undefined) this.#head = link.after;
    else link.before.after = link.after;
    if (link.after === undefined) this.#tail = link.before;
    else link.after.before = link.before;
    this.#length--;
    return true;
  }
}
