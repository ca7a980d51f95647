import type { LimitAlgorithm, LimitDecision, EndedAttempt } from "@sluice/core";
import { Ewma } from "@sluice/core/internal";
import type { LimitBounds } from "@sluice/core/internal";
import { decided, isDrop, rttMsOf } from "./decision.ts";

/**
 * Vector's controller of August 2020, its first: one decision per mean round trip. It compares the
 * mean of all round trips since the last one, those of errors too, with a moving mean (alpha 0.5)
 * and tolerates 5 % of it. Slower or pushed back halves; no slower with the limit reached adds one.
 *
 * Defaults: starts at 1, at most 200.
 */
export class Vector2020Limit implements LimitAlgorithm {
  readonly #maxLimit: number;
  readonly #past = new Ewma(EWMA_ALPHA);
  #limit: number;
  #windowSumMs = 0;
  #windowCount = 0;
  #nextUpdateAtMs = 0;
  #reachedLimit = false;
  #drop: EndedAttempt["outcome"] | undefined;

  constructor({ initialLimit = 1, maxLimit = 200 }: Partial<LimitBounds> = {}) {
    this.#limit = initialLimit;
    this.#maxLimit = maxLimit;
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(_nowMs: number, inFlight: number): void {
    if (inFlight >= this.#limit) this.#reachedLimit = true;
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    const { endedAtMs, outcome } = sample;
    if (outcome === "ignored") return undefined;
    if (isDrop(outcome)) this.#drop = outcome;
    this.#windowSumMs += rttMsOf(sample);
    this.#windowCount++;
    const windowMs = this.#windowSumMs / this.#windowCount;
    const pastMs = this.#past.mean;
    if (pastMs === undefined) {
      this.#past.update(windowMs);
      this.#nextUpdateAtMs = endedAtMs + windowMs;
      return undefined;
    }
    if (endedAtMs < this.#nextUpdateAtMs) return undefined;
    const limitBefore = this.#limit;
    const drop = this.#drop;
    this.#limit = this.#next(windowMs, pastMs);
    this.#past.update(windowMs);
    this.#nextUpdateAtMs = endedAtMs + (this.#past.mean ?? 0);
    this.#windowSumMs = 0;
    this.#windowCount = 0;
    this.#reachedLimit = false;
    this.#drop = undefined;
    return decided({ limitBefore, limit: this.#limit, rttMs: windowMs, drop });
  }

  #next(windowMs: number, pastMs: number): number {
    const limit = this.#limit;
    if (this.#drop !== undefined || windowMs >= pastMs * (1 + TOLERANCE))
      return limit - Math.floor(limit / 2);
    return limit < this.#maxLimit && this.#reachedLimit && windowMs <= pastMs ? limit + 1 : limit;
  }
}

const EWMA_ALPHA = 0.5;
const TOLERANCE = 0.05;
