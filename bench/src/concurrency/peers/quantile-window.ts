/**
 * Values of one window, for an exact quantile where the peers keep a histogram or a digest. Holds
 * the newest `CAPACITY`; they stand for a window that had more.
 */
export class QuantileWindow {
  readonly #values = new Float64Array(CAPACITY);
  #added = 0;

  /** How many were added, also those that are no longer held. */
  get count(): number {
    return this.#added;
  }

  add(value: number): void {
    this.#values[this.#added % CAPACITY] = value;
    this.#added++;
  }

  clear(): void {
    this.#added = 0;
  }

  /** The quantile, between its two neighbours where it falls between them; empties the window. */
  take(quantile: number): number {
    const sorted = this.#values.subarray(0, Math.min(this.#added, CAPACITY)).toSorted();
    this.#added = 0;
    const rank = quantile * (sorted.length - 1);
    const below = sorted[Math.floor(rank)] ?? 0;
    const above = sorted[Math.ceil(rank)] ?? below;
    return below + (above - below) * (rank - Math.floor(rank));
  }
}

const CAPACITY = 16_384;
