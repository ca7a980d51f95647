import { requireNumber } from "../errors.ts";

/**
 * Exponentially weighted moving mean and variance: `mean ← mean + alpha × (value − mean)`.
 */
export class Ewma {
  readonly #alpha: number = 0;
  #mean: number | undefined;
  #variance = 0;

  /** `alpha`: weight of the newest value, from 0 to 1. Raised, the mean follows faster and is noisier. */
  constructor(alpha: number) {
    requireNumber("alpha", alpha, 0, 1);
    this.#alpha = alpha;
  }

  /** Undefined until there is a value. */
  get mean(): number | undefined {
    return this.#mean;
  }

  get variance(): number {
    return this.#variance;
  }

  /** The first value is the mean, with no variance. */
  update(value: number): void {
    if (this.#mean === undefined) {
      this.#mean = value;
      return;
    }
    const distance = value - this.#mean;
    this.#mean += this.#alpha * distance;
    this.#variance = (1 - this.#alpha) * (this.#variance + this.#alpha * distance * distance);
  }
}
