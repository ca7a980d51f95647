import type { LimitAlgorithm, LimitDecision, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { decided, isDrop, rttMsOf } from "./decision.ts";

/**
 * AIMD of Netflix concurrency-limits: every drop, and every answer slower than 5 s, leaves 90 % of
 * the limit; every other answer adds one if at least half the limit was in flight at its start.
 *
 * Defaults: starts at 20, from 20 to 200.
 */
export class NetflixAimdLimit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  #limit: number;

  constructor(bounds: Partial<PeerBounds> = {}) {
    this.#bounds = { initialLimit: 20, minLimit: 20, maxLimit: 200, ...bounds };
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
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
    const { outcome, inFlightAtStart } = sample;
    if (outcome === "ignored") return undefined;
    const limitBefore = this.#limit;
    const rttMs = rttMsOf(sample);
    if (isDrop(outcome) || rttMs > TIMEOUT_MS) this.#move(Math.floor(limitBefore * BACK_OFF));
    else if (inFlightAtStart * 2 >= limitBefore) this.#move(limitBefore + 1);
    return decided({ limitBefore, limit: this.#limit, rttMs, drop: outcome });
  }

  #move(limit: number): void {
    this.#limit = clampLimit(limit, this.#bounds);
  }
}

const BACK_OFF = 0.9;
const TIMEOUT_MS = 5000;
