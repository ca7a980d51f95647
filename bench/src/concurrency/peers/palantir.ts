import type { LimitAlgorithm, LimitDecision, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { decided, isDrop, rttMsOf } from "./decision.ts";

/**
 * The cautious AIMD of Palantir's dialogue: every drop leaves 90 % of the limit; every other answer
 * adds 1 / limit if at least 90 % of it was in flight at its start, so about one per round trip.
 *
 * Defaults: starts at 20, from 1 to 1000000. Dialogue has two of these, for a host and for an
 * endpoint, that divide the kinds of drops among them; this one takes all.
 */
export class PalantirLimit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  #limit: number;

  constructor(bounds: Partial<PeerBounds> = {}) {
    this.#bounds = { initialLimit: 20, minLimit: 1, maxLimit: 1_000_000, ...bounds };
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
    const { outcome, inFlightAtStart } = sample;
    if (outcome === "ignored") return undefined;
    const limitBefore = this.limit;
    const limit = this.#limit;
    if (isDrop(outcome)) this.#move(Math.floor(limit * BACK_OFF));
    else if (inFlightAtStart >= Math.floor(limit * BACK_OFF)) this.#move(limit + 1 / limit);
    return decided({ limitBefore, limit: this.limit, rttMs: rttMsOf(sample), drop: outcome });
  }

  #move(limit: number): void {
    this.#limit = clampLimit(limit, this.#bounds);
  }
}

const BACK_OFF = 0.9;
