import type { Alarms, Sleeper } from "@sluice/core/internal";

/** The least time until the queue is looked at again, in ms, so that rounding never makes it spin. */
const LOOK_AGAIN_MS = 0.01;

/** Wakes a queue when its first waiter may be admitted, by the same sleep of the timer as all deadlines. */
export class QueueWakeUp implements Sleeper {
  readonly #deadlines: Alarms;
  readonly #wake: (nowMs: number) => void;
  dueMs = 0;
  place: number | undefined;

  constructor(deadlines: Alarms, wake: (nowMs: number) => void) {
    this.#deadlines = deadlines;
    this.#wake = wake;
  }

  /** Wakes the queue at `dueMs`, or sooner if it is armed for sooner: the queue is then looked at once more. */
  arm(dueMs: number, nowMs: number): void {
    if (this.place !== undefined && this.dueMs <= dueMs) return;
    this.disarm();
    this.dueMs = Math.max(dueMs, nowMs + LOOK_AGAIN_MS);
    this.#deadlines.set(this, nowMs);
  }

  disarm(): void {
    this.#deadlines.clear(this);
  }

  ring(nowMs: number): void {
    this.#wake(nowMs);
  }
}
