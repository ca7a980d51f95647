/** The state of a histogram: `counts[i]` values were at most `bounds[i]`, the last of `counts` is for those beyond all bounds. */
export interface HistogramCounts {
  readonly bounds: readonly number[];
  /** Not cumulative; one more than `bounds`. */
  readonly counts: readonly number[];
  readonly sum: number;
  readonly count: number;
}

/** Counts values by upper bounds, as Prometheus' `le` and OTLP's explicit bounds have them. */
export class Histogram implements HistogramCounts {
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;
  #count = 0;

  /** `bounds` ascend. */
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  get counts(): readonly number[] {
    return this.#counts;
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#count;
  }

  /** A value that is no number is left out: one NaN would spoil the sum for ever. */
  record(value: number): void {
    if (Number.isNaN(value)) return;
    const { bounds } = this;
    let low = 0;
    let high = bounds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (value <= (bounds[middle] ?? Infinity)) high = middle;
      else low = middle + 1;
    }
    this.#counts[low] = (this.#counts[low] ?? 0) + 1;
    this.#sum += value;
    this.#count++;
  }
}
