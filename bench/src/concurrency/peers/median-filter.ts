/** The median of the newest values, against single outliers. */
export class MedianFilter {
  readonly #size: number;
  readonly #values: number[] = [];

  constructor(size: number) {
    this.#size = size;
  }

  /** The median with `value` in it; `value` itself until there are as many as it takes. */
  add(value: number): number {
    this.#values.push(value);
    if (this.#values.length > this.#size) this.#values.shift();
    if (this.#values.length < this.#size) return value;
    const sorted = this.#values.toSorted((left, right) => left - right);
    return sorted[Math.floor(this.#size / 2)] ?? value;
  }
}
