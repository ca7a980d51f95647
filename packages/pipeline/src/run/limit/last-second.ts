export const SECOND_MS = 1_000;

/** Counts what was used in the last second, with a sum for each millisecond that saw a use. */
export class LastSecond {
  readonly #uses: { readonly atMs: number; count: number }[] = [];
  #sum = 0;

  /** Answers how to take back what was not used after all; what is older than a second is not counted any more. */
  add(count: number, nowMs: number): (unused: number) => void {
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
    let old = 0;
    while ((this.#uses[old]?.atMs ?? Infinity) <= nowMs - SECOND_MS) old++;
    for (const use of this.#uses.splice(0, old)) {
      this.#sum -= use.count;
      use.count = 0;
    }
    return this.#sum;
  }
}
