import type { Random } from "@sluice/core";

/** Names for producers and consumers that come without one: no two are alike. */
export class NameMaker {
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random) {
    this.#prefix = Math.floor(random.next() * 2 ** 32).toString(16);
  }

  next(): string {
    this.#count++;
    return `sluice-${this.#prefix}-${this.#count}`;
  }
}
