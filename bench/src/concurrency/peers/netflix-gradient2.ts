import type { LimitAlgorithm, LimitDecision, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { decided, rttMsOf } from "./decision.ts";
import { WarmAverage } from "./warm-average.ts";

/**
 * Gradient2 of Netflix concurrency-limits: the limit times the long average of the round trip over
 * the present one, with 1.5 times the average tolerated, plus 4; a fifth of the way at a time. It
 * does not look at drops.
 *
 * Defaults: starts at 20, from 20 to 200, long average over 600. It is meant to be fed by
 * `WindowedLimit`.
 */
export class NetflixGradient2Limit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  readonly #long = new WarmAverage(LONG_WINDOW, WARM_UP_COUNT);
  #limit: number;

  constructor(bounds: Partial<PeerBounds> = {}) {
    this.#bounds = { initialLimit: 20, minLimit: 20, maxLimit: 200, ...bounds };
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
  }

  get limit(): number {
    return Math.floor(this.#limit);
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    // It looks at answers only.
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    if (sample.outcome === "ignored") return undefined;
    const limitBefore = this.limit;
    const rttMs = rttMsOf(sample);
    let longMs = this.#long.add(rttMs);
    // After a long time of load the average would else take as long to come down again.
    if (longMs / rttMs > 2) longMs = this.#long.scale(LONG_DECAY);
    if (sample.inFlightAtStart >= this.#limit / 2) {
      const gradient = Math.max(0.5, Math.min(1, (TOLERANCE * longMs) / rttMs));
      const target = this.#limit * gradient + QUEUE;
      this.#limit = clampLimit(this.#limit + SMOOTHING * (target - this.#limit), this.#bounds);
    }
    return decided({ limitBefore, limit: this.limit, rttMs });
  }
}

const LONG_WINDOW = 600;
const WARM_UP_COUNT = 10;
const LONG_DECAY = 0.95;
const TOLERANCE = 1.5;
const QUEUE = 4;
const SMOOTHING = 0.2;
