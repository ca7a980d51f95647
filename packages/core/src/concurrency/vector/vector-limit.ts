import { requireNumber, requireWhole } from "../../errors.ts";
import type {
  EndedAttempt,
  LimitAlgorithm,
  LimitBounds,
  LimitCause,
  LimitDecision,
} from "../algorithm.ts";
import { RttWindows } from "./rtt-windows.ts";

export interface VectorLimitOptions extends LimitBounds {
  /**
   * A decrease multiplies the limit by this.
   *
   * @default 0.9
   */
  readonly decreaseRatio: number;
  /**
   * Weight of the newest window in the moving mean of round trips.
   *
   * @default 0.4
   */
  readonly ewmaAlpha: number;
  /**
   * Standard deviations by which a window may be slower than the moving mean before the limit falls.
   *
   * @default 2.5
   */
  readonly rttDeviationScale: number;
}

/**
 * Vector's controller as it is shipped (`adaptive_request_concurrency`), with its defaults. It decides once per mean
 * round trip, when an attempt ends:
 *
 * - limit + 1 if the limit was reached and `window ≤ mean`;
 * - limit × 0.9 if the peer pushed back, or `window ≥ mean + 2.5 × deviation`.
 *
 * Kept as a reference, and for users who know it. On a jittery link the noise alone holds it near 60,
 * whatever the peer can take, and a standing queue becomes its normal round trip.
 *
 * @example
 * const limiter = new ConcurrencyLimiter(new VectorLimit({ maxLimit: 100 }));
 */
export class VectorLimit implements LimitAlgorithm {
  readonly #options: VectorLimitOptions;
  readonly #rtts: RttWindows;
  #limit = 1;
  #isReached = false;
  #isPushedBack = false;

  constructor(options: Partial<VectorLimitOptions> = {}) {
    const { initialLimit = 1, maxLimit = 200, decreaseRatio = 0.9 } = options;
    const { ewmaAlpha = 0.4, rttDeviationScale = 2.5 } = options;
    requireWhole("maxLimit", maxLimit, 1);
    requireWhole("initialLimit", initialLimit, 1, maxLimit);
    requireNumber("decreaseRatio", decreaseRatio, 0, 1);
    requireNumber("ewmaAlpha", ewmaAlpha, 0, 1);
    requireNumber("rttDeviationScale", rttDeviationScale, 0, Number.MAX_VALUE);
    this.#options = { initialLimit, maxLimit, decreaseRatio, ewmaAlpha, rttDeviationScale };
    this.#rtts = new RttWindows(ewmaAlpha);
    this.#limit = initialLimit;
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(_nowMs: number, inFlight: number): void {
    if (inFlight >= this.#limit) this.#isReached = true;
  }

  onBlocked(): void {
    this.#isReached = true;
  }

  onEnd({ startedAtMs, endedAtMs, outcome }: EndedAttempt): LimitDecision | undefined {
    const isOpen = this.#rtts.pastMs !== undefined;
    if (outcome === "busy" || outcome === "failed") this.#isPushedBack = true;
    if (outcome === "ok") this.#rtts.add(endedAtMs - startedAtMs, endedAtMs);
    // The first success only opens a window; push-back before it counts in that window.
    if (!isOpen || !this.#rtts.isDue(endedAtMs)) return undefined;
    const limitBefore = this.#limit;
    const rttMs = this.#rtts.windowMs;
    const cause = this.#adjust(rttMs);
    this.#rtts.startNext(endedAtMs);
    this.#isReached = false;
    this.#isPushedBack = false;
    return { limit: this.#limit, limitBefore, cause, rttMs, startsPerSecond: undefined };
  }

  #adjust(windowMs: number | undefined): LimitCause {
    const { maxLimit, decreaseRatio, rttDeviationScale } = this.#options;
    const { pastMs = 0, pastDeviationMs } = this.#rtts;
    const isNoSlower = windowMs !== undefined && windowMs <= pastMs;
    if (this.#limit < maxLimit && this.#isReached && !this.#isPushedBack && isNoSlower) {
      this.#limit++;
      return "room";
    }
    const isSlower = (windowMs ?? 0) >= pastMs + rttDeviationScale * pastDeviationMs;
    if (this.#limit > 1 && (this.#isPushedBack || isSlower)) {
      this.#limit = Math.max(1, Math.floor(this.#limit * decreaseRatio));
      return this.#isPushedBack ? "busy" : "slower";
    }
    return this.#isReached ? "steady" : "idle";
  }
}
