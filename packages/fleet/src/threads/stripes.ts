import { drawnWord, RETURNED_WORD, SEATS_WORD, stripeWord, TAKEN_WORD } from "./layout.ts";

/** Most tokens that a stripe holds: the sum of two stays below 2^31. */
const HELD_MAX = 2 ** 30;

/**
 * Attempts to take the tokens of a stripe while its own thread spends them. Raised, fetching from a
 * busy thread spins longer; lowered, its tokens are missed more often.
 */
const FETCH_ATTEMPTS = 100;

/**
 * Tokens are in the pool, or held by a thread in its stripe, from which every other thread may fetch
 * them back. In any interleaving of threads no token is in two places. While a token moves it is in
 * neither, and `unspent` still counts it. A thread that ends during a move loses the moved tokens.
 */
export class Stripes {
  readonly #words: BigInt64Array<SharedArrayBuffer>;
  readonly #halves: Int32Array<SharedArrayBuffer>;
  readonly #maxThreads: number;

  constructor(memory: SharedArrayBuffer, maxThreads: number) {
    this.#words = new BigInt64Array(memory);
    this.#halves = new Int32Array(memory);
    this.#maxThreads = maxThreads;
  }

  /** A free stripe for the thread `owner`; undefined if none is free. */
  claim(owner: number): number | undefined {
    for (let stripe = 0; stripe < this.#maxThreads; stripe++) {
      const index = ownerIndex(stripe);
      if (Atomics.compareExchange(this.#halves, index, 0, owner + 1) !== 0) continue;
      Atomics.add(this.#halves, THREADS_INDEX, 1);
      this.#noteUsed(stripe + 1);
      return stripe;
    }
    return undefined;
  }

  /** Frees a stripe and moves its tokens to the pool. Its thread must no longer use it. */
  free(stripe: number, owner: number): void {
    this.fetch(stripe);
    const index = ownerIndex(stripe);
    if (Atomics.compareExchange(this.#halves, index, owner + 1, 0) !== owner + 1) return;
    Atomics.sub(this.#halves, THREADS_INDEX, 1);
  }

  ownedBy(owner: number): number[] {
    const stripes = Array.from({ length: this.#used() }, (_, stripe) => stripe);
    return stripes.filter((stripe) => Atomics.load(this.#halves, ownerIndex(stripe)) === owner + 1);
  }

  /**
   * Takes `count` tokens from the pool for the caller, and a batch for the stripe to hold:
   * `⌊left ÷ (2 × threads)⌋`, so that batches get smaller as the pool runs dry. Takes nothing if the
   * pool has fewer than `count`.
   */
  draw(stripe: number, count: bigint, issued: bigint): boolean {
    for (;;) {
      const taken = Atomics.load(this.#words, TAKEN_WORD);
      const left = issued - taken - count;
      if (left < 0n) return false;
      const batch = this.#batch(stripe, left);
      const drawn = count + BigInt(batch);
      if (Atomics.compareExchange(this.#words, TAKEN_WORD, taken, taken + drawn) !== taken)
        continue;
      Atomics.add(this.#halves, heldIndex(stripe), batch);
      // Last, so that `unspent` is never too low.
      Atomics.add(this.#words, drawnWord(stripe), drawn);
      return true;
    }
  }

  /** Takes `count` tokens from the pool whether it has them or not; `taken` stays ≤ `takenMax`. */
  owe(stripe: number, count: bigint, takenMax: bigint): void {
    for (;;) {
      const taken = Atomics.load(this.#words, TAKEN_WORD);
      const after = taken + count < takenMax ? taken + count : takenMax;
      if (after <= taken) return;
      if (Atomics.compareExchange(this.#words, TAKEN_WORD, taken, after) !== taken) continue;
      Atomics.add(this.#words, drawnWord(stripe), after - taken);
      return;
    }
  }

  /** Moves the tokens of a stripe back to the pool. Any thread may call this. */
  fetch(stripe: number): void {
    const held = Atomics.load(this.#halves, heldIndex(stripe));
    if (held <= 0) return;
    // First, so that `unspent` is never too low, and before the race with the stripe's own thread.
    Atomics.add(this.#words, RETURNED_WORD, BigInt(held));
    const fetched = this.#takeHeld(stripe, held);
    if (fetched < held) Atomics.sub(this.#words, RETURNED_WORD, BigInt(held - fetched));
    Atomics.sub(this.#words, TAKEN_WORD, BigInt(fetched));
  }

  fetchAll(): void {
    for (let stripe = 0; stripe < this.#used(); stripe++) this.fetch(stripe);
  }

  /** Tokens that all threads together could take; negative in debt. Tokens on the move are left out. */
  obtainable(issued: bigint): bigint {
    let held = 0;
    for (let stripe = 0; stripe < this.#used(); stripe++) {
      held += Math.max(Atomics.load(this.#halves, heldIndex(stripe)), 0);
    }
    return issued - Atomics.load(this.#words, TAKEN_WORD) + BigInt(held);
  }

  /**
   * Issued tokens that are not spent; while tokens move, an upper bound. The order of reading makes
   * it one: a stripe's draws before the tokens that it holds of them, and the returns last.
   */
  unspent(issued: bigint): bigint {
    let unspent = issued;
    for (let stripe = 0; stripe < this.#used(); stripe++) {
      unspent -= Atomics.load(this.#words, drawnWord(stripe));
      unspent += BigInt(Atomics.load(this.#halves, heldIndex(stripe)));
    }
    return unspent + Atomics.load(this.#words, RETURNED_WORD);
  }

  #takeHeld(stripe: number, most: number): number {
    const index = heldIndex(stripe);
    for (let attempt = 0; attempt < FETCH_ATTEMPTS; attempt++) {
      const held = Atomics.load(this.#halves, index);
      const part = Math.min(held, most);
      if (Atomics.compareExchange(this.#halves, index, held, held - part) === held) return part;
    }
    return 0;
  }

  #batch(stripe: number, left: bigint): number {
    const threads = Atomics.load(this.#halves, THREADS_INDEX);
    const room = HELD_MAX - Atomics.load(this.#halves, heldIndex(stripe));
    const part = left / BigInt(2 * threads);
    return part < BigInt(room) ? Number(part) : Math.max(room, 0);
  }

  #used(): number {
    return Atomics.load(this.#halves, USED_INDEX);
  }

  #noteUsed(stripes: number): void {
    for (;;) {
      const used = this.#used();
      if (used >= stripes) return;
      if (Atomics.compareExchange(this.#halves, USED_INDEX, used, stripes) === used) return;
    }
  }
}

const THREADS_INDEX = 2 * SEATS_WORD;
const USED_INDEX = THREADS_INDEX + 1;

/** The index, in 32-bit words, of the tokens that a stripe holds. */
export function heldIndex(stripe: number): number {
  return 2 * stripeWord(stripe);
}

function ownerIndex(stripe: number): number {
  return heldIndex(stripe) + 1;
}
