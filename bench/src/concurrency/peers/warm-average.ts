/**
 * The moving average of Netflix and of failsafe-go: the plain mean of the first values, and from
 * then on the newest weighs 2 / (size + 1).
 */
export class WarmAverage {
  readonly #weight: number;
  readonly #warmUpCount: number;
  #count = 0;
  #mean = 0;

  constructor(size: number, warmUpCount: number) {
    this.#weight = 2 / (size + 1);
    this.#warmUpCount = warmUpCount;
  }

  /** The average with `value` in it. */
  add(value: number): number {
    this.#count++;
    const weight = this.#count <= this.#warmUpCount ? 1 / this.#count : this.#weight;
    this.#mean += (value - this.#mean) * weight;
    return this.#mean;
  }

  /** The average times `factor`, which it also becomes. */
  scale(factor: number): number {
    this.#mean *= factor;
    return this.#mean;
  }
}
