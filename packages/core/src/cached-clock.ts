import type { Clock } from "./time.ts";

export interface CachedClockOptions {
  /**
   * A source that goes back by more than this many milliseconds has leapt and is re-based; a smaller
   * step back is waited out as jitter.
   * @default 16
   */
  readonly leapMs?: number;
}

/**
 * Reads its source once per turn of the event loop, because one reading costs about as much as ten
 * acquisitions from a bucket.
 *
 * It never goes back: a small step back of the source is waited out, a larger one re-bases the clock,
 * so that time continues from where it was. Leaps forward pass.
 *
 * Within one turn no time passes; the next turn sees it all at once. So a limit on this clock keeps
 * its bound as if every interval were longer by the longest turn in it. Where turns may be too long
 * for that, give the limit the exact clock.
 */
export class CachedClock implements Clock {
  readonly #source: Clock;
  readonly #atEndOfTurn: (run: () => void) => void;
  readonly #expire = (): void => {
    this.#fresh = false;
  };
  readonly #leapMs: number = 0;
  #fresh = false;
  #nowMs = 0;
  /** Milliseconds added to the source; changes only when the source leaps back. */
  #offsetMs = 0;

  constructor(
    source: Clock,
    atEndOfTurn: (run: () => void) => void,
    options: CachedClockOptions = {},
  ) {
    this.#source = source;
    this.#atEndOfTurn = atEndOfTurn;
    this.#leapMs = options.leapMs ?? 16;
    this.#nowMs = source.now();
  }

  now(): number {
    if (!this.#fresh) this.#refresh();
    // Read from the field in either case: V8 boxes a number that may also come from a call.
    return this.#nowMs;
  }

  #refresh(): void {
    const sourceMs = this.#source.now();
    if (sourceMs + this.#offsetMs < this.#nowMs - this.#leapMs) {
      this.#offsetMs = this.#nowMs - sourceMs;
    }
    this.#nowMs = Math.max(this.#nowMs, sourceMs + this.#offsetMs);
    this.#fresh = true;
    this.#atEndOfTurn(this.#expire);
  }
}
