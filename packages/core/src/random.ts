/** A source of numbers in [0, 1). */
export interface Random {
  next(): number;
}

/** The same seed gives the same numbers on every machine. Not for secrets. */
export class SeededRandom implements Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed | 0;
  }

  /** Weyl sequence with a multiply-xor-shift finish: 2^32 states, one addition to step. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  }
}
