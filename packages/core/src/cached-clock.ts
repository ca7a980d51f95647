import type { Clock } from "./time.ts";

export interface CachedClockOptions {
  /** A source that falls back by more than this has leapt and is re-based; less is jitter. */
  readonly leapMs?: number;
}

/**
 * Reads its source once per turn of the event loop, because a reading costs ten times as much as
 * the bucket that asks for it.
 *
 * It never goes back: small steps back of the source are waited out, larger ones (a leap) re-base
 * it, so that time goes on from where it was. Leaps forward pass.
 *
 * Who stays in one turn sees no time pass, and sees it all at once in the next. So a limit on this
 * clock keeps its bound as if every stretch of time were longer by the longest turn in it. Where
 * turns may be long and that is too much, give the limit the exact clock.
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
  /** Added to the source; changes only when the source leaps back. */
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
