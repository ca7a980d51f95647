/** The mean of the values since it was last emptied. */
export class Mean {
  #count = 0;
  #mean = 0;

  /** Undefined while there is no value. */
  get value(): number | undefined {
    return this.#count === 0 ? undefined : this.#mean;
  }

  add(value: number): void {
    this.#count++;
    this.#mean += (value - this.#mean) / this.#count;
  }

  clear(): void {
    this.#count = 0;
    this.#mean = 0;
  }
}
