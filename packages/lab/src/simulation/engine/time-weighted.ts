/** Summary of a quantity over time. */
export interface Distribution {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  /** The value that held longest; the highest of several. */
  readonly mode: number;
}

/**
 * Distribution of a whole number over time. Each value is weighted by the time since the previous
 * one; the first only starts the clock.
 *
 * @example
 * const depth = new TimeWeighted();
 * depth.add(0, 0); // starts the clock
 * depth.add(3, 900); // 3 until 900 ms
 * depth.add(5, 1000);
 * depth.distribution(); // { min: 3, max: 5, mean: 3.2, mode: 3 }
 */
export class TimeWeighted {
  readonly #weights: number[] = [];
  #lastAtMs: number | undefined;

  add(value: number, nowMs: number): void {
    const weight = this.#lastAtMs === undefined ? 0 : nowMs - this.#lastAtMs;
    this.#lastAtMs = nowMs;
    if (weight === 0) return;
    while (this.#weights.length <= value) this.#weights.push(0);
    this.#weights[value] = (this.#weights[value] as number) + weight;
  }

  /** Adds the weights of another distribution. */
  merge(other: TimeWeighted): void {
    while (this.#weights.length < other.#weights.length) this.#weights.push(0);
    for (const [value, weight] of other.#weights.entries()) {
      this.#weights[value] = (this.#weights[value] as number) + weight;
    }
  }

  /** Undefined if no time has passed between two values. */
  distribution(): Distribution | undefined {
    let min: number | undefined;
    let max = 0;
    let mode = 0;
    let total = 0;
    let sum = 0;
    for (const [value, weight] of this.#weights.entries()) {
      if (weight === 0) continue;
      min ??= value;
      max = value;
      if (weight >= (this.#weights[mode] as number)) mode = value;
      total += weight;
      sum += value * weight;
    }
    return min === undefined ? undefined : { min, max, mean: sum / total, mode };
  }
}

/** The same for real numbers. Every value after the first counts for `min` and `max`. */
export class TimeWeightedReal {
  #lastAtMs: number | undefined;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #total = 0;
  #sum = 0;
  /** Weight by cell, for the mode: equal values are rare among real numbers. */
  readonly #weights = new Map<number, number>();

  add(value: number, nowMs: number): void {
    const weight = this.#lastAtMs === undefined ? 0 : nowMs - this.#lastAtMs;
    const isFirst = this.#lastAtMs === undefined;
    this.#lastAtMs = nowMs;
    if (isFirst) return;
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
    this.#total += weight;
    this.#sum += value * weight;
    const cell = cellOf(value);
    this.#weights.set(cell, (this.#weights.get(cell) ?? 0) + weight);
  }

  merge(other: TimeWeightedReal): void {
    this.#min = Math.min(this.#min, other.#min);
    this.#max = Math.max(this.#max, other.#max);
    this.#total += other.#total;
    this.#sum += other.#sum;
    for (const [cell, weight] of other.#weights) {
      this.#weights.set(cell, (this.#weights.get(cell) ?? 0) + weight);
    }
  }

  distribution(): Distribution | undefined {
    if (this.#total === 0) return undefined;
    let mode = 0;
    let heaviest = 0;
    for (const [cell, weight] of this.#weights) {
      if (weight > heaviest || (weight === heaviest && cell > mode)) {
        mode = cell;
        heaviest = weight;
      }
    }
    return { min: this.#min, max: this.#max, mean: this.#sum / this.#total, mode: mode / 10 };
  }
}

/**
 * Values from which the grid is coarse, so that there are about a million cells at most below it.
 */
const COARSE_FROM = 100_000;

/** The value rounded to tenths, or to thousands from `COARSE_FROM` on; in tenths. */
function cellOf(value: number): number {
  return value < COARSE_FROM ? Math.round(value * 10) : Math.round(value / 1000) * 10_000;
}
