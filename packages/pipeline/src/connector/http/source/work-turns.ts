import type { Clock } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";

/**
 * Work of one turn of the event loop, ms. Lowered, more turns are needed for the same work; raised, timers and other
 * connections wait longer. A body of 1 MiB takes 5 to 10 ms to parse, so a turn has one or two of them.
 */
const TURN_MS = 10;

/**
 * Does pieces of work one after the other, in turns of the event loop. Without it, several hundred bodies that are complete
 * at once would be parsed in one turn, and everything else would wait for seconds.
 */
export class WorkTurns {
  readonly #clock: Clock;
  readonly #waiting: (() => void)[] = [];
  #isRunning = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** What `work` answers, in a later turn if this one has done enough. The caller bounds how much may wait. */
  run<T>(work: () => T): Promise<T> {
    const done = new Promise<T>((resolve, reject) => {
      this.#waiting.push(() => {
        try {
          resolve(work());
        } catch (error) {
          reject(error);
        }
      });
    });
    if (!this.#isRunning) void this.#runAll();
    return done;
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true;
    while (this.#waiting.length > 0) {
      this.#runTurn();
      // Also after the last piece: what comes in the rest of this turn waits for the next.
      await nextTurn();
    }
    this.#isRunning = false;
  }

  #runTurn(): void {
    const endMs = this.#clock.now() + TURN_MS;
    do this.#waiting.shift()?.();
    while (this.#waiting.length > 0 && this.#clock.now() < endMs);
  }
}
