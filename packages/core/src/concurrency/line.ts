import { invariant } from "../errors.ts";

/** Somebody who waits. Lines link them, so one waiter stands in one line at most. */
export interface Waiter {
  /** Permits wanted. */
  readonly weight: number;
  /** The higher goes first; equals go in the order in which they came. */
  readonly priority: number;
  /** Kept by the line; who sets it to undefined from the start is linked faster. */
  spot?: Spot | undefined;
}

/** Where a waiter stands. */
export interface Spot {
  readonly line: object;
  readonly waiter: Waiter;
  before: Spot | undefined;
  after: Spot | undefined;
}

/**
 * Who is next: by priority, then first come. Leaving, from anywhere, takes the same time however
 * long the line is; joining walks past those of a lower priority, and past nobody among equals.
 */
export class Line<W extends Waiter> {
  #head: Spot | undefined;
  #tail: Spot | undefined;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  get first(): W | undefined {
    // Only waiters of this line's kind are ever linked into it.
    return this.#head?.waiter as W | undefined;
  }

  /** The one who came last among those of the lowest priority. */
  get last(): W | undefined {
    return this.#tail?.waiter as W | undefined;
  }

  /** All who stand here now, the next first. */
  waiters(): W[] {
    const waiters: W[] = [];
    for (let spot = this.#head; spot !== undefined; spot = spot.after)
      waiters.push(spot.waiter as W);
    return waiters;
  }

  join(waiter: W): void {
    invariant(waiter.spot === undefined, "one waiter stands in one line");
    let before = this.#tail;
    while (before !== undefined && before.waiter.priority < waiter.priority) before = before.before;
    const after = before === undefined ? this.#head : before.after;
    const spot: Spot = { line: this, waiter, before, after };
    if (before === undefined) this.#head = spot;
    else before.after = spot;
    if (after === undefined) this.#tail = spot;
    else after.before = spot;
    waiter.spot = spot;
    this.#length++;
  }

  /** False if they do not stand in this line. */
  leave(waiter: W): boolean {
    const spot = waiter.spot;
    if (spot === undefined || spot.line !== this) return false;
    waiter.spot = undefined;
    if (spot.before === undefined) this.#head = spot.after;
    else spot.before.after = spot.after;
    if (spot.after === undefined) this.#tail = spot.before;
    else spot.after.before = spot.before;
    this.#length--;
    return true;
  }
}
