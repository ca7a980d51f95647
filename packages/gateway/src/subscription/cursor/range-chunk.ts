import type { RangeRun } from "../../storage/cursor/cursor-snapshot.ts";

/** Ranges of a full chunk. Larger chunks move more bytes per insertion, smaller ones are more. */
export const CHUNK_RANGES_MAX = 512;

const CAPACITY_MIN = 4;

/** Ranges of one ledger in order: entries from `from[i]` on, before `to[i]`. Never empty in use. */
export class RangeChunk {
  readonly ledgerId: number;
  #length = 0;
  #from: Float64Array;
  #to: Float64Array;

  constructor(ledgerId: number, capacity: number = CAPACITY_MIN) {
    this.ledgerId = ledgerId;
    this.#from = new Float64Array(capacity);
    this.#to = new Float64Array(capacity);
  }

  get length(): number {
    return this.#length;
  }

  get entryCount(): number {
    let count = 0;
    for (let index = 0; index < this.#length; index++)
      count += this.toAt(index) - this.fromAt(index);
    return count;
  }

  /** Where a range begins; NaN, which equals and touches nothing, if there is no such range. */
  fromAt(index: number): number {
    return index < this.#length ? (this.#from[index] ?? Number.NaN) : Number.NaN;
  }

  toAt(index: number): number {
    return index < this.#length ? (this.#to[index] ?? Number.NaN) : Number.NaN;
  }

  setFrom(index: number, from: number): void {
    this.#from[index] = from;
  }

  setTo(index: number, to: number): void {
    this.#to[index] = to;
  }

  /** Index of the first range that begins after an entry. */
  indexAfter(entryId: number): number {
    const from = this.#from;
    let low = 0;
    let high = this.#length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((from[middle] ?? Infinity) > entryId) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  insert(index: number, from: number, to: number): void {
    this.#reserve(this.#length + 1);
    this.#from.copyWithin(index + 1, index, this.#length);
    this.#to.copyWithin(index + 1, index, this.#length);
    this.#from[index] = from;
    this.#to[index] = to;
    this.#length++;
  }

  /** Removes the ranges from `start` on, before `end`. */
  remove(start: number, end: number): void {
    this.#from.copyWithin(start, end, this.#length);
    this.#to.copyWithin(start, end, this.#length);
    this.#length -= end - start;
  }

  /** A copy of the first `count` ranges. */
  run(count: number): RangeRun {
    const { ledgerId } = this;
    return { ledgerId, from: this.#from.slice(0, count), to: this.#to.slice(0, count) };
  }

  /** The ranges from `start` on, before `end`, as a chunk of their own. */
  slice(start: number, end: number): RangeChunk {
    const chunk = new RangeChunk(this.ledgerId, Math.max(CAPACITY_MIN, end - start));
    chunk.#from.set(this.#from.subarray(start, end));
    chunk.#to.set(this.#to.subarray(start, end));
    chunk.#length = end - start;
    return chunk;
  }

  /** Adds the ranges of a chunk that follows this one. */
  join(next: RangeChunk): void {
    this.#reserve(this.#length + next.#length);
    this.#from.set(next.#from.subarray(0, next.#length), this.#length);
    this.#to.set(next.#to.subarray(0, next.#length), this.#length);
    this.#length += next.#length;
  }

  #reserve(length: number): void {
    if (length <= this.#from.length) return;
    const capacity = Math.max(length, 2 * this.#from.length);
    const [from, to] = [new Float64Array(capacity), new Float64Array(capacity)];
    from.set(this.#from);
    to.set(this.#to);
    this.#from = from;
    this.#to = to;
  }
}
