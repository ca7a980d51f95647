import { throwLater } from "../throw-later.ts";
import type { Timer } from "../time.ts";
import { AlarmHeap } from "./alarm-heap.ts";
import type { Alarm } from "./alarm-heap.ts";

/** A waiter for an instant. What `ring` throws becomes an unhandled rejection; the other alarms ring on. */
export interface Sleeper extends Alarm {
  ring(nowMs: number): void;
}

/** Instants closer than this are the same: sums of doubles differ in their last digits. */
const SAME_MS = 1e-6;

/** Why a sleep is given up. One for all: making an error takes longer than everything else here. */
const NOT_NEEDED = new Error("not needed any more");

/**
 * Any number of alarms on one sleep of the timer, which is the only thing that ever keeps the
 * process alive, and only while an alarm is set. Clearing the last one leaves nothing behind.
 *
 * An alarm that is cleared while others are set does not move the sleep: it wakes for nothing
 * once and lies down again, which is cheaper than a new sleep for every call that ends in time.
 */
export class Alarms {
  readonly #timer: Timer;
  readonly #heap = new AlarmHeap<Sleeper>();
  #sleep: AbortController | undefined;
  #wakeAtMs = 0;

  constructor(timer: Timer) {
    this.#timer = timer;
  }

  get size(): number {
    return this.#heap.size;
  }

  set(sleeper: Sleeper, nowMs: number): void {
    this.#heap.add(sleeper);
    if (sleeper === this.#heap.first) this.#lieDown(sleeper.dueMs, nowMs);
  }

  clear(sleeper: Sleeper): void {
    this.#heap.remove(sleeper);
    if (this.#heap.size > 0) return;
    this.#sleep?.abort(NOT_NEEDED);
    this.#sleep = undefined;
  }

  #lieDown(wakeAtMs: number, nowMs: number): void {
    if (this.#sleep !== undefined && this.#wakeAtMs <= wakeAtMs) return;
    this.#sleep?.abort(NOT_NEEDED);
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#wakeAtMs = wakeAtMs;
    this.#timer.sleep(wakeAtMs - nowMs, sleep.signal).then(
      () => this.#wakeUp(sleep),
      // Given up for an earlier one, or for none.
      () => undefined,
    );
  }

  #wakeUp(sleep: AbortController): void {
    if (sleep !== this.#sleep) return;
    this.#sleep = undefined;
    const nowMs = this.#timer.now();
    for (;;) {
      const first = this.#heap.first;
      if (first === undefined) return;
      if (first.dueMs > nowMs + SAME_MS) {
        this.#lieDown(first.dueMs, nowMs);
        return;
      }
      this.#heap.remove(first);
      try {
        first.ring(nowMs);
      } catch (error) {
        void throwLater(error);
      }
    }
  }
}
