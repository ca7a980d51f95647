import { SECOND_MS } from "@sluice/core/internal";

/** Tokens granted in the second that ends with the last grant. */
export class SlidingSecond {
  readonly #atMs: number[] = [];
  readonly #counts: number[] = [];
  #first = 0;
  #sum = 0;

  /** Notes tokens, in order of time; answers how many there were in the last second. */
  add(count: number, atMs: number): number {
    this.#atMs.push(atMs);
    this.#counts.push(count);
    this.#sum += count;
    return this.sumAt(atMs);
  }

  /** Tokens of the second that ends at `atMs`, which may not go back. */
  sumAt(atMs: number): number {
    while ((this.#atMs[this.#first] ?? atMs) <= atMs - SECOND_MS) {
      this.#sum -= this.#counts[this.#first] ?? 0;
      this.#first++;
    }
    if (this.#first > 1024 && this.#first * 2 > this.#atMs.length) {
      this.#atMs.splice(0, this.#first);
      this.#counts.splice(0, this.#first);
      this.#first = 0;
    }
    return this.#sum;
  }
}
