import { IN_VAIN_LEFT, IN_VAIN_SURE, TRIAL_ENDS_MAX } from "../constants.ts";

interface Ends {
  served: number;
  lost: number;
}

/**
 * Counts how attempts end that started after a cut, by the time of their start: a lost attempt may end a
 * timeout later than a served one, so attempts count only once all that started with them have ended.
 */
export class CutTrial {
  /** Loss ratio that caused the cut. */
  readonly ratio: number;
  /** Whether the rate was halved: the second trial of a cut. */
  readonly isHalved: boolean;
  readonly #fromMs: number;
  #period = 0;
  #settled: Ends = { served: 0, lost: 0 };
  #before: Ends = { served: 0, lost: 0 };
  #current: Ends = { served: 0, lost: 0 };

  constructor(cut: { readonly ratio: number; readonly isHalved: boolean }, fromMs: number) {
    this.ratio = cut.ratio;
    this.isHalved = cut.isHalved;
    this.#fromMs = fromMs;
  }

  /** Fraction lost of what counts. */
  get lostRatio(): number {
    return this.#settled.lost / Math.max(1, this.#settled.lost + this.#settled.served);
  }

  /** `endMs`: time that an attempt takes to end at most, served or lost. */
  add(isServed: boolean, startedAtMs: number, nowMs: number, endMs: number): void {
    this.#advance(Math.floor((nowMs - this.#fromMs) / Math.max(1, endMs)));
    const period = Math.floor((startedAtMs - this.#fromMs) / Math.max(1, endMs));
    const ends =
      period >= this.#period
        ? this.#current
        : period < this.#period - 1
          ? this.#settled
          : this.#before;
    if (isServed) ends.served++;
    else ends.lost++;
  }

  /** Whether the cut has surely not lessened the losses. */
  get isInVain(): boolean {
    return this.#inVain() >= this.#bound;
  }

  /** Whether the cut has surely lessened the losses. */
  get isOfUse(): boolean {
    return this.#inVain() < -this.#bound;
  }

  /** A trial of many ends that tells little is decided by what is more likely. */
  get #bound(): number {
    const { served, lost } = this.#settled;
    return served + lost < TRIAL_ENDS_MAX ? IN_VAIN_SURE : 0;
  }

  /**
   * Likelihood (natural logarithm) that the cut was in vain rather than of use:
   * `ln(p(ends | ratio) ÷ p(ends | a quarter of it))`.
   */
  #inVain(): number {
    const { served, lost } = this.#settled;
    const lessened = IN_VAIN_LEFT * this.ratio;
    return (
      lost * Math.log(this.ratio / lessened) + served * Math.log((1 - this.ratio) / (1 - lessened))
    );
  }

  #advance(period: number): void {
    // Periods are counted anew when the time to end has become longer.
    while (this.#period < period) {
      this.#settled.served += this.#before.served;
      this.#settled.lost += this.#before.lost;
      this.#before = this.#current;
      this.#current = { served: 0, lost: 0 };
      this.#period = Math.max(this.#period + 1, period - 2);
    }
  }
}
