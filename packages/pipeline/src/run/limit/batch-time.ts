/** Weight of the newest batch in all means. Raised, one late batch changes the estimate more; lower, it follows a service slowly. */
const ALPHA = 0.2;
/**
 * Least spread of batch sizes, as a part of their mean, from which on the effect of the size is known. Lower, the noise of
 * the times would be taken for it. Chosen, not measured.
 */
const SPREAD_MIN = 0.1;

/**
 * How long a batch takes, by its size: `ms(n) = mean + slope × (n − mean size)`, with the slope of the latest batches. A service that takes
 * messages one by one has `ms(n) ∝ n`; one that takes all at once has a slope of 0.
 */
export class BatchTime {
  #batches = 0;
  #meanCount = 0;
  #meanMs = 0;
  #variance = 0;
  #covariance = 0;

  get meanMs(): number {
    return this.#meanMs;
  }

  add(count: number, ms: number): void {
    const alpha = this.#batches++ === 0 ? 1 : ALPHA;
    const offCount = count - this.#meanCount;
    const offMs = ms - this.#meanMs;
    this.#meanCount += alpha * offCount;
    this.#meanMs += alpha * offMs;
    this.#variance = (1 - alpha) * (this.#variance + alpha * offCount * offCount);
    this.#covariance = (1 - alpha) * (this.#covariance + alpha * offCount * offMs);
  }

  /** As long as batches had about one size, time in proportion to the size is assumed. */
  ms(count: number): number {
    if (this.#meanCount === 0) return 0;
    const proportional = this.#meanMs / this.#meanCount;
    const isKnown = this.#variance > (SPREAD_MIN * this.#meanCount) ** 2;
    const slope = isKnown
      ? Math.min(proportional, Math.max(0, this.#covariance / this.#variance))
      : proportional;
    return this.#meanMs + slope * (count - this.#meanCount);
  }
}
