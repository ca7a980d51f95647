import { throwLater } from "../throw-later.ts";
import type { Timer } from "../time.ts";
import { AlarmHeap } from "./alarm-heap.ts";
import type { Alarm } from "./alarm-heap.ts";

/** An alarm with its callback. An error that `ring` throws becomes an unhandled rejection; the other alarms ring on. */
export interface Sleeper extends Alarm {
  ring(nowMs: number): void;
}

/** Instants closer than this are the same: sums of doubles differ in their last digits. */
const SAME_MS = 1e-6;

/** The reason for aborting a sleep. Shared, because creating an error costs more than the rest of `clear`. */
const NOT_NEEDED = new Error("not needed any more");

/**
 * Any number of alarms on one sleep of the timer. The sleep keeps the process alive, and runs only while an alarm is
 * set. Clearing the last alarm ends the sleep.
 *
 * An alarm that is cleared while others are set does not move the sleep: the sleep ends once without an alarm that is
 * due and starts again, which is cheaper than a new sleep for every call that ends before its deadline.
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
    if (sleeper === this.#heap.first) this.#startSleep(sleeper.dueMs, nowMs);
  }

  clear(sleeper: Sleeper): void {
    this.#heap.remove(sleeper);
    if (this.#heap.size > 0) return;
    this.#sleep?.abort(NOT_NEEDED);
    this.#sleep = undefined;
  }

  #startSleep(wakeAtMs: number, nowMs: number): void {
    if (this.#sleep !== undefined && this.#wakeAtMs <= wakeAtMs) return;
    this.#sleep?.abort(NOT_NEEDED);
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#wakeAtMs = wakeAtMs;
    this.#timer.sleep(wakeAtMs - nowMs, sleep.signal).then(
      () => this.#onAwake(sleep),
      // Aborted for an earlier instant, or by `clear`.
      () => undefined,
    );
  }

  #onAwake(sleep: AbortController): void {
    if (sleep !== this.#sleep) return;
    this.#sleep = undefined;
    const nowMs = this.#timer.now();
    for (;;) {
      const first = this.#heap.first;
      if (first === undefined) return;
      if (first.dueMs > nowMs + SAME_MS) {
        this.#startSleep(first.dueMs, nowMs);
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
