import type { LimitAlgorithm, LimitDecision, Random, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { decided, isDrop, rttMsOf } from "./decision.ts";
import { logStep } from "./log-step.ts";

/**
 * Vegas of Netflix concurrency-limits, its default: estimates from each answer how much of the
 * limit waits in a queue, against the lowest round trip seen. Answers that fail count for that too.
 * After 15 to 30 answers per unit of limit the lowest is replaced by whatever comes.
 *
 * Defaults: starts at 20, from 1 to 1000, no smoothing.
 */
export class NetflixVegasLimit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  readonly #random: Random;
  #limit: number;
  #noLoadMs: number | undefined;
  #answersSinceProbe = 0;
  #answersPerUnit: number;

  constructor(random: Random, bounds: Partial<PeerBounds> = {}) {
    this.#random = random;
    this.#bounds = { initialLimit: 20, minLimit: 1, maxLimit: 1000, ...bounds };
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
    this.#answersPerUnit = this.#drawAnswersPerUnit();
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    // It looks at answers only.
  }

  onEnd(sample: EndedAttempt): LimitDecision | undefined {
    const { outcome } = sample;
    if (outcome === "ignored") return undefined;
    const rttMs = rttMsOf(sample);
    this.#answersSinceProbe++;
    if (this.#answersSinceProbe >= this.#answersPerUnit * this.#limit) {
      this.#answersSinceProbe = 0;
      this.#answersPerUnit = this.#drawAnswersPerUnit();
      this.#noLoadMs = rttMs;
      return undefined;
    }
    if (this.#noLoadMs === undefined || rttMs < this.#noLoadMs) {
      this.#noLoadMs = rttMs;
      return undefined;
    }
    const limitBefore = this.#limit;
    this.#limit = clampLimit(
      limitBefore + this.#change(sample, this.#noLoadMs / rttMs),
      this.#bounds,
    );
    return decided({ limitBefore, limit: this.#limit, rttMs, drop: outcome });
  }

  #change({ outcome, inFlightAtStart }: EndedAttempt, unqueued: number): number {
    const step = logStep(this.#limit);
    if (isDrop(outcome)) return -step;
    if (inFlightAtStart * 2 < this.#limit) return 0;
    const queue = Math.ceil(this.#limit * (1 - unqueued));
    if (queue <= step) return 6 * step;
    if (queue < 3 * step) return step;
    return queue > 6 * step ? -step : 0;
  }

  #drawAnswersPerUnit(): number {
    return PROBE_MULTIPLIER * (0.5 + this.#random.next() / 2);
  }
}

const PROBE_MULTIPLIER = 30;
