import type { Random } from "@sluice/core";

const FIRST_MS = 100;
const LONGEST_MS = 60_000;
/** What may be missing from a pause, so that those who lost one broker do not come back as one. */
const JITTER = 0.2;

/** How long to wait before the next attempt: twice as long after each, up to a minute. */
export class BackOff {
  readonly #random: Random;
  #nextMs = FIRST_MS;

  constructor(random: Random) {
    this.#random = random;
  }

  nextMs(): number {
    const pauseMs = this.#nextMs * (1 - JITTER * this.#random.next());
    this.#nextMs = Math.min(this.#nextMs * 2, LONGEST_MS);
    return pauseMs;
  }

  reset(): void {
    this.#nextMs = FIRST_MS;
  }
}
