import { requireNumber } from "../errors.ts";

/** A moving mean and variance in which each value weighs `alpha` and all before it the rest. */
export class Ewma {
  readonly #alpha: number = 0;
  #mean: number | undefined;
  #variance = 0;

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
