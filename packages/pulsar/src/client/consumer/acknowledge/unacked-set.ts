/**
 * The messages of an entry that are not acknowledged yet; it only shrinks.
 *
 * On the wire it is an ack set: 64-bit words, lowest first, without trailing zero words.
 */
export class UnackedSet {
  readonly size: number;
  readonly #words: Uint32Array;
  #count: number;

  /**
   * `size` is bounded by the caller, by the bytes of the entry's payload. `ackSet` is what the
   * broker has left; without it no message is acknowledged.
   */
  constructor(size: number, ackSet: readonly bigint[] = []) {
    this.size = size;
    this.#words = new Uint32Array(Math.ceil(size / 32));
    this.#count = size;
    if (ackSet.length === 0) this.#fill();
    else this.#take(ackSet);
  }

  get count(): number {
    return this.#count;
  }

  has(index: number): boolean {
    return ((this.#words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0;
  }

  /** False if the message was acknowledged before, or is outside of the entry. */
  remove(index: number): boolean {
    if (!this.has(index)) return false;
    this.#words[index >>> 5] = (this.#words[index >>> 5] ?? 0) & ~(1 << (index & 31));
    this.#count--;
    return true;
  }

  /** Removes all messages up to and including `index`. */
  removeThrough(index: number): void {
    for (let each = 0; each <= index && each < this.size; each++) this.remove(each);
  }

  toAckSet(): bigint[] {
    const ackSet: bigint[] = [];
    for (let at = 0; at < this.#words.length; at += 2) {
      const low = BigInt(this.#words[at] ?? 0);
      const high = BigInt(this.#words[at + 1] ?? 0);
      ackSet.push(BigInt.asIntN(64, low | (high << 32n)));
    }
    while (ackSet.at(-1) === 0n) ackSet.pop();
    return ackSet;
  }

  #fill(): void {
    this.#words.fill(0xffffffff);
    const spare = this.size & 31;
    if (spare > 0) this.#words[this.#words.length - 1] = 2 ** spare - 1;
  }

  #take(ackSet: readonly bigint[]): void {
    this.#count = 0;
    for (let index = 0; index < this.size; index++) {
      const word = BigInt.asUintN(64, ackSet[index >>> 6] ?? 0n);
      if (((word >> BigInt(index & 63)) & 1n) === 0n) continue;
      this.#words[index >>> 5] = (this.#words[index >>> 5] ?? 0) | (1 << (index & 31));
      this.#count++;
    }
  }
}
