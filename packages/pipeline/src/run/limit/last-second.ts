export const SECOND_MS = 1_000;

/** Counts what was used in the last second, with a sum for each millisecond that saw a use. */
export class LastSecond {
  readonly #uses: { readonly atMs: number; count: number }[] = [];
  #sum = 0;

  /** Sums that are kept: at most one for each millisecond of a second, also if `sum` is never called. */
  get size(): number {
    return this.#uses.length;
  }

  /** Answers how to take back what was not used after all; what is older than a second is not counted any more. */
  add(count: number, nowMs: number): (unused: number) => void {
    this.#dropOld(nowMs);
    const newest = this.#uses.at(-1);
    const use =
      newest !== undefined && nowMs - newest.atMs < 1 ? newest : { atMs: nowMs, count: 0 };
    if (use !== newest) this.#uses.push(use);
    use.count += count;
    this.#sum += count;
    return (unused) => {
      const back = Math.min(unused, use.count);
      use.count -= back;
      this.#sum -= back;
    };
  }

  sum(nowMs: number): number {
    this.#dropOld(nowMs);
    return this.#sum;
  }

  /** How long until the sum is `countMax` or less, if nothing is added, ms. */
  untilMs(countMax: number, nowMs: number): number {
    let sum = this.sum(nowMs);
    for (const { atMs, count } of this.#uses) {
      if (sum <= countMax) return 0;
      sum -= count;
      if (sum <= countMax) return atMs + SECOND_MS - nowMs;
    }
    return 0;
  }

  #dropOld(nowMs: number): void {
    let old = 0;
    while ((this.#uses[old]?.atMs ?? Infinity) <= nowMs - SECOND_MS) old++;
    if (old === 0) return;
    for (const use of this.#uses.splice(0, old)) {
      this.#sum -= use.count;
      use.count = 0;
    }
  }
}
