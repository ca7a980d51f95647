/** Virtual time for tests and simulations: it moves only when told to. */
import { invariant } from "./errors.ts";
import { nextTurn } from "./system.ts";
import { NANOS_PER_MS } from "./time.ts";
import type { Clock, Timer } from "./time.ts";

/**
 * A clock that stands still until it is advanced. Nanoseconds are its smallest step.
 *
 * @example
 * const clock = new VirtualClock();
 * const bucket = new TokenBucket({ rate: 10, clock });
 * clock.advance(100); // one more token
 */
export class VirtualClock implements Clock {
  // Two fields, because the nanoseconds of a year do not fit a double exactly.
  #wholeMs = 0;
  #nanos = 0;

  now(): number {
    return this.#wholeMs + this.#nanos / NANOS_PER_MS;
  }

  advance(ms: number): void {
    requireForward("VirtualClock.advance", ms);
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
 * A timer in virtual time. Sleepers wake in the order in which they are due, those due at the same
 * instant in the order in which they came. Between two of them everything that is ready runs.
 *
 * @example
 * const timer = new VirtualTimer();
 * const slept = timer.sleep(1000);
 * await timer.advance(1000);
 * await slept;
 */
export class VirtualTimer implements Timer {
  #nowMs = 0;
  #sleepers: Sleeper[] = [];
  /** Settles when the last `advance` has ended. */
  #advanced: Promise<void> = Promise.resolve();

  now(): number {
    return this.#nowMs;
  }

  /** Number of sleepers. A test that ends with any has forgotten to wait for something. */
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

  /**
   * Lets `ms` pass and wakes every sleeper that becomes due, also those that begin to sleep meanwhile.
   * A call that comes during another starts where that one ends, so overlapping calls add up.
   */
  async advance(ms: number): Promise<void> {
    requireForward("VirtualTimer.advance", ms);
    this.#advanced = this.#advanced.then(() => this.#pass(ms));
    await this.#advanced;
  }

  async #pass(ms: number): Promise<void> {
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

function requireForward(method: string, ms: number): void {
  invariant(ms >= 0 && Number.isFinite(ms), `ms of ${method} is ${ms}; use a number from 0 up`);
}
