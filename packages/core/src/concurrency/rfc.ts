import { requireNumber, requireWhole } from "../errors.ts";
import type {
  LimitAlgorithm,
  LimitBounds,
  LimitCause,
  LimitDecision,
  Sample,
} from "./algorithm.ts";
import { Ewma } from "./ewma.ts";

export interface RfcLimitOptions extends LimitBounds {
  /** Weight of the newest answer in the moving mean. */
  readonly ewmaAlpha: number;
  /** How much slower than the mean still counts as equal, in milliseconds. */
  readonly toleranceMs: number;
}

/**
 * RFC 1858 to the letter: once per mean round trip the answer that comes is compared with the
 * moving mean of all before; no slower adds one to what is in use, slower or pushed back halves.
 *
 * Any jitter halves it every other round trip, so it lives between 1 and 3: use it to compare.
 */
export class RfcLimit implements LimitAlgorithm {
  readonly #options: RfcLimitOptions;
  readonly #rtt: Ewma;
  #limit = 1;
  #nextUpdateAtMs = 0;

  constructor(options: Partial<RfcLimitOptions> = {}) {
    this.#options = { ...RFC_DEFAULTS, ...options };
    const { initialLimit, limitMax, ewmaAlpha, toleranceMs } = this.#options;
    requireWhole("limitMax", limitMax, 1);
    requireWhole("initialLimit", initialLimit, 1, limitMax);
    requireNumber("toleranceMs", toleranceMs, 0, Number.MAX_VALUE);
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
    // The document looks at answers only.
  }

  onEnd({ startedAtMs, endedAtMs, outcome, inFlight }: Sample): LimitDecision | undefined {
    if (outcome === "ignored") return undefined;
    const rttMs = endedAtMs - startedAtMs;
    const pastMs = this.#rtt.mean;
    const isPushedBack = outcome !== "ok";
    this.#rtt.update(rttMs);
    if (pastMs === undefined) this.#nextUpdateAtMs = endedAtMs + rttMs;
    if (pastMs === undefined || endedAtMs < this.#nextUpdateAtMs) return undefined;
    const limitBefore = this.#limit;
    // The answer that ended was in use as well.
    const cause = this.#adjust(rttMs, pastMs, isPushedBack, inFlight + 1);
    this.#nextUpdateAtMs = endedAtMs + pastMs;
    return { limit: this.#limit, limitBefore, cause, rttMs, startsPerSecond: undefined };
  }

  #adjust(rttMs: number, pastMs: number, isPushedBack: boolean, inUse: number): LimitCause {
    const { limitMax, toleranceMs } = this.#options;
    if (isPushedBack || rttMs > pastMs + toleranceMs) {
      this.#limit = Math.floor((this.#limit + 1) / 2);
      return isPushedBack ? "busy" : "slower";
    }
    if (this.#limit < limitMax && rttMs <= pastMs) {
      this.#limit = Math.min(inUse, this.#limit) + 1;
      return "room";
    }
    return "steady";
  }
}

const RFC_DEFAULTS: RfcLimitOptions = {
  initialLimit: 1,
  limitMax: 200,
  ewmaAlpha: 0.4,
  toleranceMs: 0,
};
