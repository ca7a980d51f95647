import type { Clock } from "@sluice/core";
import { CachedClock } from "@sluice/core/internal";
import { systemClock } from "@sluice/core/system";

/** How many acquires share one turn of the event loop, and so one reading of the clock. */
export const ACQUIRES_PER_TURN = 100;

/**
 * The clock of a process that has run for hours: in its first two seconds nanoseconds fit 32 bits,
 * and V8 compiles everything again when they no longer do.
 */
const seasonedClock: Clock = { now: () => systemClock.now() + 10_000_000 };

/**
 * An event loop reduced to what a cached clock sees of it: turns that end. A real one would cost
 * ten times what is measured here.
 */
export class Turns {
  readonly clock: Clock;
  #atEnd = (): void => {};

  constructor() {
    this.clock = new CachedClock(seasonedClock, (run) => {
      this.#atEnd = run;
    });
  }

  end(): void {
    this.#atEnd();
  }
}
