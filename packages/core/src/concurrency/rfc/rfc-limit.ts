import { requireNumber, requireWhole } from "../../errors.ts";
import type {
  EndedAttempt,
  LimitAlgorithm,
  LimitBounds,
  LimitCause,
  LimitDecision,
} from "../algorithm.ts";
import { Ewma } from "../ewma.ts";

export interface RfcLimitOptions extends LimitBounds {
  /**
   * Weight of the newest answer in the moving mean of round trips.
   *
   * @default 0.4
   */
  readonly ewmaAlpha: number;
  /**
   * How much slower than the mean an answer may be without halving the limit, in ms.
   *
   * @default 0
   */
  readonly toleranceMs: number;
}

/**
 * Vector's RFC 1858 to the letter. Once per mean round trip the answer that ends is compared with the
 * moving mean of all answers before it:
 *
 * - no slower: `limit ← min(in use, limit) + 1`;
 * - slower, or pushed back: `limit ← ⌈limit ÷ 2⌉`.
 *
 * Any jitter halves the limit every other round trip, so it stays between 1 and 3. Use it to compare.
 *
 * @example
 * const limiter = new ConcurrencyLimiter(new RfcLimit());
 */
export class RfcLimit implements LimitAlgorithm {
  readonly #options: RfcLimitOptions;
  readonly #rtt: Ewma;
  #limit = 1;
  #nextUpdateAtMs = 0;
  /** An attempt did not fit into what is free since the last one started or ended. */
  #isBlocked = false;

  constructor(options: Partial<RfcLimitOptions> = {}) {
    const { initialLimit = 1, maxLimit = 200, ewmaAlpha = 0.4, toleranceMs = 0 } = options;
    requireWhole("maxLimit", maxLimit, 1);
    requireWhole("initialLimit", initialLimit, 1, maxLimit);
    requireNumber("ewmaAlpha", ewmaAlpha, 0, 1);
    requireNumber("toleranceMs", toleranceMs, 0, Number.MAX_VALUE);
    this.#options = { initialLimit, maxLimit, ewmaAlpha, toleranceMs };
    this.#rtt = new Ewma(ewmaAlpha);
    this.#limit = initialLimit;
  }

  get limit(): number {
    return this.#limit;
  }

  pauseMs(): number {
    return 0;
  }

  onStart(): void {
    this.#isBlocked = false;
  }

  onBlocked(): void {
    this.#isBlocked = true;
  }

  onEnd({
    startedAtMs,
    endedAtMs,
    outcome,
    inFlight,
    weight,
  }: EndedAttempt): LimitDecision | undefined {
    // The gap that nothing fits into is in use as well, and so is the attempt that ends.
    const inUse = this.#isBlocked ? this.#limit : inFlight + weight;
    this.#isBlocked = false;
    if (outcome === "ignored") return undefined;
    const rttMs = endedAtMs - startedAtMs;
    const pastMs = this.#rtt.mean;
    this.#rtt.update(rttMs);
    if (pastMs === undefined) this.#nextUpdateAtMs = endedAtMs + rttMs;
    if (pastMs === undefined || endedAtMs < this.#nextUpdateAtMs) return undefined;
    const limitBefore = this.#limit;
    const cause = this.#adjust(rttMs, pastMs, outcome !== "ok", inUse);
    this.#nextUpdateAtMs = endedAtMs + pastMs;
    return { limit: this.#limit, limitBefore, cause, rttMs, startsPerSecond: undefined };
  }

  #adjust(rttMs: number, pastMs: number, isPushedBack: boolean, inUse: number): LimitCause {
    const { maxLimit, toleranceMs } = this.#options;
    if (isPushedBack || rttMs > pastMs + toleranceMs) {
      this.#limit = Math.ceil(this.#limit / 2);
      return isPushedBack ? "busy" : "slower";
    }
    if (this.#limit < maxLimit && rttMs <= pastMs) {
      this.#limit = Math.min(inUse, this.#limit) + 1;
      return "room";
    }
    return "steady";
  }
}
