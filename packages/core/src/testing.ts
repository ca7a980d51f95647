/** Virtual time for tests and simulations: it moves only when told to. */
import { invariant } from "./errors.ts";
import { nextTurn } from "./system.ts";
import { NANOS_PER_MS } from "./time.ts";
import type { Clock, Timer } from "./time.ts";

/** A clock that stands still until it is advanced. Nanoseconds are its smallest step. */
export class VirtualClock implements Clock {
  // Apart, because the nanoseconds of a year do not fit a double exactly.
  #wholeMs = 0;
  #nanos = 0;

  now(): number {
    return this.#wholeMs + this.#nanos / NANOS_PER_MS;
  }

  advance(ms: number): void {
    invariant(ms >= 0 && Number.isFinite(ms), "time goes forward");
    const wholeMs = Math.floor(ms);
    const nanos = this.#nanos + Math.round((ms - wholeMs) * NANOS_PER_MS);
    this.#wholeMs += wholeMs + Math.floor(nanos / NANOS_PER_MS);
    this.#nanos = nanos % NANOS_PER_MS;
  }
}

interface Sleeper {
  readonly dueMs: number;
  readonly wake: () => void;
}

/**
 * A timer in virtual time. Sleepers wake in the order in which they are due, those due at once in
 * the order in which they came, and between two of them everything that is ready runs.
 */
export class VirtualTimer implements Timer {
  #nowMs = 0;
  #sleepers: Sleeper[] = [];

  now(): number {
    return this.#nowMs;
  }

  /** How many sleep. A test that leaves any behind has lost track of something. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const abort = (): void => {
        this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
        reject(signal?.reason);
      };
      const wake = (): void => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const sleeper = { dueMs: this.#nowMs + Math.max(0, ms), wake };
      const later = this.#sleepers.findIndex((other) => other.dueMs > sleeper.dueMs);
      this.#sleepers.splice(later === -1 ? this.#sleepers.length : later, 0, sleeper);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  /** Lets `ms` pass, waking whoever is due on the way, also those who fall asleep on the way. */
  async advance(ms: number): Promise<void> {
    invariant(ms >= 0, "time goes forward");
    const untilMs = this.#nowMs + ms;
    await nextTurn();
    for (;;) {
      const first = this.#sleepers[0];
      if (first === undefined || first.dueMs > untilMs) break;
      this.#sleepers.shift();
      this.#nowMs = first.dueMs;
      first.wake();
      await nextTurn();
    }
    this.#nowMs = untilMs;
  }
}
