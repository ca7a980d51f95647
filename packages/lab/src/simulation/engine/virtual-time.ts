import type { Timer } from "@sluice/core";
import { addAbortListener, NANOS_PER_MS, removeAbortListener } from "@sluice/core/internal";
import { nextTurn } from "@sluice/core/system";
import { EventLoop } from "./event-loop.ts";
import type { Scheduled } from "./event-loop.ts";

const SLEEP_MIN_MS = 1 / NANOS_PER_MS;

/**
 * Virtual time for code that waits by promises. Events run one at a time in the order in which they are
 * due; after each of them every promise that can settle does, as in a real event loop.
 *
 * @example
 * const time = new VirtualTime();
 * time.after(250, () => console.log(`${time.now()} ms`));
 * await time.runUntil(60_000); // prints 250 ms, at once
 */
export class VirtualTime implements Timer {
  readonly #loop = new EventLoop({ timerQuantumMs: 0 });
  #hasRun = false;

  now(): number {
    return this.#loop.now();
  }

  /** Runs `run` at an instant; if the instant has passed, in the next turn. */
  at(atMs: number, run: () => void): Scheduled {
    return this.#loop.at(atMs, () => {
      this.#hasRun = true;
      run();
    });
  }

  after(delayMs: number, run: () => void): Scheduled {
    return this.at(this.now() + delayMs, run);
  }

  /**
   * Takes a nanosecond at least. Without that, code that is woken a rounding error before its time and
   * sleeps for the rest would stop time: real timers are always a little late.
   */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      if (signal?.aborted === true) {
        reject(signal.reason);
        return;
      }
      const listener = {
        handleEvent: (): void => {
          this.#loop.cancel(sleeping);
          reject(signal?.reason);
        },
      };
      const sleeping = this.after(Math.max(SLEEP_MIN_MS, ms), () => {
        if (signal !== undefined) removeAbortListener(signal, listener);
        resolve();
      });
      if (signal !== undefined) addAbortListener(signal, listener);
    });
  }

  /** Resolves in the next turn of the virtual event loop, at the same instant. */
  readonly nextTurn = (): Promise<void> =>
    new Promise((resolve) => {
      this.after(0, resolve);
    });

  /** Runs all events that are due before `untilMs`, or until `isOver` answers true. */
  async runUntil(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    for (;;) {
      // All promises settle before the real event loop takes its next turn.
      await nextTurn();
      if (isOver()) return;
      if (!this.#runOne(untilMs)) return;
    }
  }

  /** False if no event is due before `untilMs`. */
  #runOne(untilMs: number): boolean {
    this.#hasRun = false;
    const hasRun = (): boolean => this.#hasRun;
    this.#loop.run(untilMs, () => undefined, hasRun);
    return hasRun();
  }
}
