export const KEYS = 100_000;

/** Prime to the number of keys, so that every key is visited before one is visited again. */
const STRIDE = 7_919;

/** Keys visited in an order that no cache can foresee. */
export class KeyWalk {
  readonly keys: readonly string[] = Array.from({ length: KEYS }, (_, i) => `user:${i}`);
  #at = 0;

  next(): string {
    this.#at = (this.#at + STRIDE) % KEYS;
    return this.keys[this.#at] as string;
  }
}
