import type { Random } from "@sluice/core";

/** Pause before the first retry, in ms. Pulsar's own clients use the same. */
const FIRST_MS = 100;

/**
 * Longest pause, in ms: a third of the default send timeout, so that a pending message outlives at
 * least two attempts. Raised, a broker that is back is found later; Pulsar's own clients have 60 s.
 */
const LONGEST_MS = 10_000;

/** Part of a pause that may be cut at random, so that the clients of one broker do not return at once. */
const JITTER = 0.2;

/** Exponential backoff: each pause is twice as long as the one before, up to `LONGEST_MS`. */
export class Backoff {
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
