import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";

/** Events of one run: some minutes of computing. More is taken for a mistake in the scenario. */
const EVENTS_MAX = 100_000_000;
/** Events at one instant. With delays of 0 time would stand still for ever. */
const EVENTS_AT_ONCE_MAX = 5_000_000;
/** Pending events: about a gigabyte with the closures they hold. */
const PENDING_MAX = 3_000_000;
/** Cancelled events below which the heap is not swept. */
const SWEEP_MIN = 1024;

/** A pending event; `run` is undefined once it ran or was cancelled. */
export interface Scheduled {
  readonly dueMs: number;
  /** Events of the same instant run in the order in which they were scheduled. */
  readonly order: number;
  run: (() => void) | undefined;
}

export interface EventLoopOptions {
  /**
   * 0: timers are exact. Else a delay takes ⌈0.5 + delay ÷ quantum⌉ quanta, always a little late, as
   * the timers of a real runtime do.
   */
  readonly timerQuantumMs: number;
  /** Events due at this time or later are dropped when they are scheduled. Default: none is. */
  readonly endMs?: number;
}

/**
 * Virtual time for simulations with millions of events: a heap of plain callbacks, no promises.
 *
 * @example
 * const loop = new EventLoop({ timerQuantumMs: 0 });
 * loop.after(250, () => console.log(`${loop.now()} ms`));
 * loop.run(60_000, () => {}, () => false); // prints 250 ms, at once
 */
export class EventLoop implements Clock {
  readonly #quantumMs: number = 0;
  readonly #endMs: number | undefined;
  #heap: Scheduled[] = [];
  /** Cancelled events that are still in the heap. */
  #cancelled = 0;
  #nowMs = 0;
  #order = 0;
  #atOnce = 0;

  constructor({ timerQuantumMs, endMs }: EventLoopOptions) {
    this.#quantumMs = timerQuantumMs;
    this.#endMs = endMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** Runs `run` after a delay, rounded to the timer grid. */
  after(delayMs: number, run: () => void): Scheduled {
    const quantumMs = this.#quantumMs;
    const keptMs = quantumMs === 0 ? delayMs : Math.ceil(0.5 + delayMs / quantumMs) * quantumMs;
    return this.at(this.#nowMs + keptMs, run);
  }

  /** Runs `run` at an exact instant; at once if it has passed. */
  at(atMs: number, run: () => void): Scheduled {
    const isTooMuch =
      this.#order >= EVENTS_MAX ||
      this.#atOnce >= EVENTS_AT_ONCE_MAX ||
      this.#heap.length >= PENDING_MAX;
    if (isTooMuch) this.#giveUp();
    this.#atOnce++;
    const event: Scheduled = { dueMs: Math.max(atMs, this.#nowMs), order: this.#order++, run };
    if (this.#endMs === undefined || event.dueMs < this.#endMs) this.#push(event);
    else event.run = undefined;
    return event;
  }

  /** Cancels an event. Has no effect on one that ran or was cancelled. */
  cancel(event: Scheduled): void {
    if (event.run === undefined) return;
    event.run = undefined;
    this.#cancelled++;
    if (this.#cancelled < SWEEP_MIN || this.#cancelled * 2 < this.#heap.length) return;
    // A sorted array is a heap.
    this.#heap = this.#heap
      .filter((each) => each.run !== undefined)
      .toSorted((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  /**
   * Runs events until none is due before `untilMs`, or `isOver` answers true. At each instant all due
   * events run first, then `onInstant` once.
   */
  run(untilMs: number, onInstant: () => void, isOver: () => boolean): void {
    while (!isOver()) {
      const first = this.#first();
      if (first === undefined || first.dueMs >= untilMs) return;
      if (first.dueMs > this.#nowMs) this.#atOnce = 0;
      this.#nowMs = first.dueMs;
      this.#runDue(isOver);
      if (!isOver()) onInstant();
    }
  }

  #runDue(isOver: () => boolean): void {
    for (let event = this.#first(); event !== undefined; event = this.#first()) {
      if (event.dueMs > this.#nowMs || isOver()) return;
      const { run } = event;
      event.run = undefined;
      this.#pop();
      run?.();
    }
  }

  #giveUp(): never {
    let what = `too much is under way: more than ${PENDING_MAX} events still to come`;
    if (this.#order >= EVENTS_MAX) what = `too much happens: more than ${EVENTS_MAX} events`;
    else if (this.#atOnce >= EVENTS_AT_ONCE_MAX)
      what = `time stands still: more than ${EVENTS_AT_ONCE_MAX} events at one instant`;
    const when = `gave up ${this.#nowMs / 1000} s into the run`;
    throw new ConfigError(`${what}; ${when}; make delays longer or the run shorter`);
  }

  /** The next event that was not cancelled. */
  #first(): Scheduled | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined || first.run !== undefined) return first;
      this.#pop();
      this.#cancelled--;
    }
  }

  #push(event: Scheduled): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Scheduled;
      if (isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop() as Scheduled;
    const length = heap.length;
    if (length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      const right = heap[child + 1];
      if (right !== undefined && isBefore(right, heap[child] as Scheduled)) child++;
      if (isBefore(last, heap[child] as Scheduled)) break;
      heap[at] = heap[child] as Scheduled;
      at = child;
    }
    heap[at] = last;
  }
}

function isBefore(a: Scheduled, b: Scheduled): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
