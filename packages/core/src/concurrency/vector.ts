import { requireNumber, requireWhole } from "../errors.ts";
import type {
  LimitAlgorithm,
  LimitBounds,
  LimitCause,
  LimitDecision,
  Sample,
} from "./algorithm.ts";
import { RoundTrips } from "./round-trips.ts";

export interface VectorLimitOptions extends LimitBounds {
  /** What a decrease leaves of the limit. */
  readonly decreaseRatio: number;
  /** Weight of the newest window in the moving mean. */
  readonly ewmaAlpha: number;
  /** Standard deviations by which a window may be slower than the mean. */
  readonly rttDeviationScale: number;
}

/**
 * Vector's controller as it is shipped: one decision per mean round trip, taken when an attempt
 * ends. It adds one when the limit was reached and the mean of the window is no higher than the
 * moving mean; it takes a tenth when the peer pushed back or the window was slower by more than
 * 2.5 deviations.
 *
 * Kept as a reference and for those who know it. Noise alone holds it near 60 whatever the peer can
 * take, and a queue that stays becomes its normal.
 */
export class VectorLimit implements LimitAlgorithm {
  readonly #options: VectorLimitOptions;
  readonly #roundTrips: RoundTrips;
  #limit = 1;
  #reachedLimit = false;
  #hadBackPressure = false;

  constructor(options: Partial<VectorLimitOptions> = {}) {
    this.#options = { ...VECTOR_DEFAULTS, ...options };
    const { initialLimit, limitMax, decreaseRatio, ewmaAlpha, rttDeviationScale } = this.#options;
    requireWhole("limitMax", limitMax, 1);
    requireWhole("initialLimit", initialLimit, 1, limitMax);
    requireNumber("decreaseRatio", decreaseRatio, 0, 1);
    requireNumber("rttDeviationScale", rttDeviationScale, 0, Number.MAX_VALUE);
    this.#roundTrips = new RoundTrips(ewmaAlpha);
    this.#limit = initialLimit;
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

  onEnd({ startedAtMs, endedAtMs, outcome }: Sample): LimitDecision | undefined {
    if (outcome === "busy" || outcome === "failed") this.#hadBackPressure = true;
    if (outcome === "ok") this.#roundTrips.add(endedAtMs - startedAtMs);
    // Until the first success nothing adapts, and back pressure stays noted for the first update.
    if (!this.#roundTrips.isDue(endedAtMs)) return undefined;
    const { windowMs, pastMs = 0 } = this.#roundTrips;
    const limitBefore = this.#limit;
    const cause = this.#adjust(windowMs, pastMs);
    this.#roundTrips.startNext(endedAtMs);
    this.#reachedLimit = false;
    this.#hadBackPressure = false;
    return {
      limit: this.#limit,
      limitBefore,
      cause,
      rttMs: windowMs,
      startsPerSecond: undefined,
    };
  }

  #adjust(windowMs: number | undefined, pastMs: number): LimitCause {
    const { limitMax, decreaseRatio, rttDeviationScale } = this.#options;
    const toleratedMs = pastMs + rttDeviationScale * this.#roundTrips.pastDeviationMs;
    if (
      this.#limit < limitMax &&
      this.#reachedLimit &&
      !this.#hadBackPressure &&
      windowMs !== undefined &&
      windowMs <= pastMs
    ) {
      this.#limit++;
      return "room";
    }
    const isSlower = (windowMs ?? 0) >= toleratedMs;
    if (this.#limit > 1 && (this.#hadBackPressure || isSlower)) {
      this.#limit = Math.max(1, Math.floor(this.#limit * decreaseRatio));
      return this.#hadBackPressure ? "busy" : "slower";
    }
    return this.#reachedLimit ? "steady" : "idle";
  }
}

const VECTOR_DEFAULTS: VectorLimitOptions = {
  initialLimit: 1,
  limitMax: 200,
  decreaseRatio: 0.9,
  ewmaAlpha: 0.4,
  rttDeviationScale: 2.5,
};
