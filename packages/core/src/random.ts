import { COUNT_MAX, requireWhole } from "./errors.ts";

/** A source of numbers in [0, 1). */
export interface Random {
  next(): number;
}

/**
 * The same seed gives the same numbers on every machine; seeds are whole numbers up to ±2^53. Not for
 * secrets.
 *
 * @example
 * const random = new SeededRandom(42);
 * random.next(); // the same number in every run
 */
export class SeededRandom implements Random {
  /** The low 32 bits of the seed, then stepped. */
  #state: number;
  /** From the high 21 bits of the seed; 0 for seeds within ±2^32. */
  readonly #stream: number;

  constructor(seed: number) {
    requireWhole("seed", seed, -COUNT_MAX);
    this.#state = seed | 0;
    this.#stream = Math.imul(Math.trunc(seed / 2 ** 32), 0x85ebca6b);
  }

  /** Weyl sequence with a multiply-xor-shift finish: 2^32 states per stream, one addition to step. */
  next(): number {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15) ^ this.#stream, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  }
}
