import type { LimitAlgorithm, LimitDecision, Random, EndedAttempt } from "@sluice/core";
import { clampLimit } from "./bounds.ts";
import type { PeerBounds } from "./bounds.ts";
import { decided, isDrop, rttMsOf } from "./decision.ts";

/**
 * The older gradient of Netflix concurrency-limits: the limit times the lowest round trip over the
 * present one, with twice the lowest tolerated, plus room for a queue. Downward it moves by a fifth
 * of the way. After 1000 to 2000 samples it forgets the lowest and starts from the queue alone.
 *
 * Defaults: starts at 50, from 1 to 1000; the queue is the root of the limit, at least 4. It is
 * meant to be fed by `WindowedLimit`.
 */
export class NetflixGradientLimit implements LimitAlgorithm {
  readonly #bounds: PeerBounds;
  readonly #random: Random;
  #limit: number;
  #noLoadMs: number | undefined;
  #samplesUntilProbe: number;

  constructor(random: Random, bounds: Partial<PeerBounds> = {}) {
    this.#random = random;
    this.#bounds = { initialLimit: 50, minLimit: 1, maxLimit: 1000, ...bounds };
    this.#limit = clampLimit(this.#bounds.initialLimit, this.#bounds);
    this.#samplesUntilProbe = this.#drawProbe();
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
    const { outcome } = sample;
    if (outcome === "ignored") return undefined;
    const limitBefore = this.limit;
    const rttMs = rttMsOf(sample);
    const queue = Math.max(QUEUE_MIN, Math.floor(Math.sqrt(limitBefore)));
    this.#samplesUntilProbe--;
    if (this.#samplesUntilProbe < 0) {
      this.#samplesUntilProbe = this.#drawProbe();
      this.#noLoadMs = undefined;
      this.#limit = clampLimit(queue, this.#bounds);
      return { ...decided({ limitBefore, limit: this.limit, rttMs }), cause: "drain" };
    }
    this.#noLoadMs = Math.min(rttMs, this.#noLoadMs ?? rttMs);
    const target = this.#target(sample, this.#noLoadMs / rttMs, queue);
    const isLower = target < this.#limit;
    const next = isLower ? this.#limit + SMOOTHING * (target - this.#limit) : target;
    this.#limit = clampLimit(Math.max(queue, next), this.#bounds);
    return decided({ limitBefore, limit: this.limit, rttMs, drop: outcome });
  }

  #target({ outcome, inFlightAtStart }: EndedAttempt, unqueued: number, queue: number): number {
    if (isDrop(outcome)) return this.#limit * BACK_OFF;
    if (inFlightAtStart < this.#limit / 2) return this.#limit;
    return this.#limit * Math.max(0.5, Math.min(1, TOLERANCE * unqueued)) + queue;
  }

  #drawProbe(): number {
    return PROBE_INTERVAL + Math.floor(this.#random.next() * PROBE_INTERVAL);
  }
}

const QUEUE_MIN = 4;
const TOLERANCE = 2;
const SMOOTHING = 0.2;
const BACK_OFF = 0.9;
const PROBE_INTERVAL = 1000;
