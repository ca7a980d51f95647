import type { Random } from "@sluice/core";

/**
 * The most that is added to a pause, as a fraction of it: the callers of many processes do not come back
 * at the same instant. Raised, a pause costs more; a pause is never shortened.
 */
const JITTER = 0.1;

/** A pause that the peer, or the user, asked for. Of several pauses the one that ends last holds. */
export class Pause {
  #untilMs = 0;

  get untilMs(): number {
    return this.#untilMs;
  }

  leftMs(nowMs: number): number {
    return Math.max(0, this.#untilMs - nowMs);
  }

  /** Pauses for `pauseMs` plus jitter; false if the pause that is on ends no sooner. */
  extend(pauseMs: number, nowMs: number, random: Random): boolean {
    // The jitter was drawn with the pause that is on; a new draw for each of many answers that say
    // the same would only ever prolong it.
    if (!(pauseMs > 0) || nowMs + pauseMs <= this.#untilMs) return false;
    this.#untilMs = nowMs + pauseMs * (1 + JITTER * random.next());
    return true;
  }

  /** Ends the pause; false if none was on. */
  end(nowMs: number): boolean {
    const wasOn = nowMs < this.#untilMs;
    this.#untilMs = 0;
    return wasOn;
  }
}
