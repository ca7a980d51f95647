import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";

/** Events of one run: some minutes of computing. What needs more is not a scenario but a mistake. */
const EVENTS_MAX = 100_000_000;
/** Events at one instant: with delays of nothing, time would stand still for ever. */
const EVENTS_AT_ONCE_MAX = 5_000_000;

interface Event {
  readonly dueMs: number;
  /** Ties go in the order in which they were scheduled. */
  readonly order: number;
  readonly run: () => void;
}

export interface EventLoopOptions {
  /**
   * 0: timers are exact. Else they fire on a grid, always a little late, as those of a real runtime
   * do: a delay takes at least half a quantum more, rounded up.
   */
  readonly timerQuantumMs: number;
}

/** Virtual time for simulations in which very much happens: plain callbacks, no promises. */
export class EventLoop implements Clock {
  readonly #quantumMs: number = 0;
  readonly #heap: Event[] = [];
  #nowMs = 0;
  #order = 0;
  #atOnce = 0;

  constructor(options: EventLoopOptions) {
    this.#quantumMs = options.timerQuantumMs;
  }

  now(): number {
    return this.#nowMs;
  }

  /** Runs `run` after a delay, as the timers of this loop keep it. */
  after(delayMs: number, run: () => void): void {
    const quantumMs = this.#quantumMs;
    const keptMs = quantumMs === 0 ? delayMs : Math.ceil(0.5 + delayMs / quantumMs) * quantumMs;
    this.at(this.#nowMs + keptMs, run);
  }

  /** Runs `run` at an instant, exactly. One that has passed is now. */
  at(atMs: number, run: () => void): void {
    if (this.#order >= EVENTS_MAX || this.#atOnce >= EVENTS_AT_ONCE_MAX) {
      const what = this.#order >= EVENTS_MAX ? "too much happens" : "time stands still";
      throw new ConfigError(
        `${what}: give up at ${this.#nowMs / 1000} s; make delays longer or the run shorter`,
      );
    }
    this.#atOnce++;
    this.#push({ dueMs: Math.max(atMs, this.#nowMs), order: this.#order++, run });
  }

  /**
   * Lets time pass until nothing is due before `untilMs` or `isOver`. At each instant everything due
   * runs first, then `onInstant`, once.
   */
  run(untilMs: number, onInstant: () => void, isOver: () => boolean): void {
    while (!isOver()) {
      const first = this.#heap[0];
      if (first === undefined || first.dueMs >= untilMs) return;
      if (first.dueMs > this.#nowMs) this.#atOnce = 0;
      this.#nowMs = first.dueMs;
      while (!isOver() && this.#heap[0] !== undefined && this.#heap[0].dueMs <= this.#nowMs) {
        this.#pop().run();
      }
      if (!isOver()) onInstant();
    }
  }

  #push(event: Event): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(event);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      const above = heap[parent] as Event;
      if (isBefore(above, event)) break;
      heap[at] = above;
      at = parent;
    }
    heap[at] = event;
  }

  #pop(): Event {
    const heap = this.#heap;
    const first = heap[0] as Event;
    const last = heap.pop() as Event;
    const length = heap.length;
    if (length === 0) return first;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= length) break;
      if (child + 1 < length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++;
      if (isBefore(last, heap[child] as Event)) break;
      heap[at] = heap[child] as Event;
      at = child;
    }
    heap[at] = last;
    return first;
  }
}

function isBefore(a: Event, b: Event): boolean {
  return a.dueMs < b.dueMs || (a.dueMs === b.dueMs && a.order < b.order);
}
