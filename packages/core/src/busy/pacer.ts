/** Unused allowance gathers for this long, so that late timers cost no rate. */
const BURST_MS = 20;
const BURST_MIN = 2;

/** What rounding may take from a whole token that a pause has waited for. */
const ROUNDING = 1e-9;

/**
 * Spreads sending evenly at a real-valued rate. What is not used is saved up for 20 ms and one
 * request at most, or two requests where the rate is slow.
 */
export class Pacer {
  #perSecond = 0;
  #tokens = 0;
  #filledAtMs = 0;
  #hasSpare = false;

  /** Some allowance was lost since the rate was set, because nobody used it. */
  get hasSpare(): boolean {
    return this.#hasSpare;
  }

  /** Sets the rate from `nowMs` on. What was saved up stays, as far as the new rate may save. */
  setRate(perSecond: number, nowMs: number): void {
    this.#fill(nowMs);
    this.#perSecond = perSecond;
    this.#tokens = Math.min(this.#tokens, this.#tokensMax());
    this.#hasSpare = false;
  }

  tryTake(nowMs: number): boolean {
    this.#fill(nowMs);
    if (this.#tokens < 1 - ROUNDING) return false;
    this.#tokens--;
    return true;
  }

  pauseMs(nowMs: number): number {
    const lacking = 1 - this.#tokensAt(nowMs);
    return lacking <= ROUNDING ? 0 : (lacking * 1000) / this.#perSecond;
  }

  #fill(nowMs: number): void {
    const tokens = this.#tokensAt(nowMs);
    const tokensMax = this.#tokensMax();
    if (tokens > tokensMax) this.#hasSpare = true;
    this.#tokens = Math.min(tokens, tokensMax);
    this.#filledAtMs = Math.max(nowMs, this.#filledAtMs);
  }

  /** What there would be if any number could be saved up. */
  #tokensAt(nowMs: number): number {
    return this.#tokens + (Math.max(0, nowMs - this.#filledAtMs) * this.#perSecond) / 1000;
  }

  #tokensMax(): number {
    return Math.max(BURST_MIN, 1 + (this.#perSecond * BURST_MS) / 1000);
  }
}
