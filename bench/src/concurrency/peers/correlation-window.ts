interface Correlation {
  /** From -1 to 1; 0 while there are too few pairs or one side hardly varies. */
  readonly correlation: number;
  /** Standard deviation of y over its mean; 0 while there are too few pairs. */
  readonly variationOfY: number;
}

/** How two values moved together over the newest pairs. */
export class CorrelationWindow {
  readonly #size: number;
  readonly #warmUpCount: number;
  readonly #xs: number[] = [];
  readonly #ys: number[] = [];

  constructor(size: number, warmUpCount: number) {
    this.#size = size;
    this.#warmUpCount = warmUpCount;
  }

  add(x: number, y: number): Correlation {
    this.#xs.push(x);
    this.#ys.push(y);
    if (this.#xs.length > this.#size) {
      this.#xs.shift();
      this.#ys.shift();
    }
    if (this.#xs.length < this.#warmUpCount) return { correlation: 0, variationOfY: 0 };
    const meanX = meanOf(this.#xs);
    const meanY = meanOf(this.#ys);
    const deviationX = Math.sqrt(meanOf(this.#xs.map((value) => (value - meanX) ** 2)));
    const deviationY = Math.sqrt(meanOf(this.#ys.map((value) => (value - meanY) ** 2)));
    const variationOfY = deviationY / meanY;
    if (deviationX < VARIATION_MIN * meanX || variationOfY < VARIATION_MIN)
      return { correlation: 0, variationOfY };
    const products = this.#xs.map(
      (value, index) => (value - meanX) * ((this.#ys[index] ?? 0) - meanY),
    );
    return { correlation: meanOf(products) / (deviationX * deviationY), variationOfY };
  }
}

const VARIATION_MIN = 0.01;

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
