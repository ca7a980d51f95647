/** Shortest match, in bytes: a shorter one costs as much as it saves. */
export const MATCH_MIN_BYTES = 4;

/** Longest distance: LZ4 has two bytes for it, and so has the Snappy copy used here. */
const DISTANCE_MAX = 0xffff;

/**
 * LZ4's rule: the last match starts at least this far before the end, and the last five bytes are
 * literals.
 */
const LAST_START_BYTES = 12;
const LAST_LITERALS_BYTES = 5;

/** Hash table slots, as a power of two: as many as input bytes, within these bounds. */
const SLOT_BITS_MIN = 8;
const SLOT_BITS_MAX = 14;

/**
 * After every 32 misses in a row the step grows by one byte, so that incompressible data is passed
 * quickly.
 */
const MISSES_PER_STEP_BITS = 5;

/**
 * Finds matches greedily: at each position it checks the last position with the same hash of four
 * bytes, and takes the first match at full length.
 *
 * `next` advances to the next match; the literals lie between `literalsAt` and `matchAt`. After
 * false, everything from `literalsAt` to the end is literals.
 */
export class MatchFinder {
  readonly #bytes: Uint8Array;
  /** Per hash: 1 + the last position; 0 if there is none. */
  readonly #slots: Int32Array;
  readonly #hashShift: number;
  #literalsAt = 0;
  #matchAt = 0;
  #matchBytes = 0;
  #distance = 0;

  constructor(bytes: Uint8Array) {
    const bits = 32 - Math.clz32(bytes.length);
    const slotBits = Math.min(SLOT_BITS_MAX, Math.max(SLOT_BITS_MIN, bits));
    this.#bytes = bytes;
    this.#slots = new Int32Array(2 ** slotBits);
    this.#hashShift = 32 - slotBits;
  }

  get literalsAt(): number {
    return this.#literalsAt;
  }

  get matchAt(): number {
    return this.#matchAt;
  }

  /** Length of the match, at least `MATCH_MIN_BYTES`. */
  get matchBytes(): number {
    return this.#matchBytes;
  }

  /** Distance back to the repeated bytes; less than the length if they overlap. */
  get distance(): number {
    return this.#distance;
  }

  next(): boolean {
    const bytes = this.#bytes;
    const slots = this.#slots;
    const shift = this.#hashShift;
    const lastStart = bytes.length - LAST_START_BYTES;
    let at = this.#matchAt + this.#matchBytes;
    this.#literalsAt = at;
    for (let misses = 0; at <= lastStart; misses += 1) {
      const word = wordAt(bytes, at);
      const slot = Math.imul(word, 0x9e3779b1) >>> shift;
      const candidate = (slots[slot] ?? 0) - 1;
      slots[slot] = at + 1;
      const isNear = candidate >= 0 && at - candidate <= DISTANCE_MAX;
      if (isNear && wordAt(bytes, candidate) === word) {
        this.#matchAt = at;
        this.#matchBytes = this.#lengthOf(at, candidate);
        this.#distance = at - candidate;
        return true;
      }
      at += 1 + (misses >>> MISSES_PER_STEP_BITS);
    }
    return false;
  }

  #lengthOf(at: number, candidate: number): number {
    const bytes = this.#bytes;
    const end = bytes.length - LAST_LITERALS_BYTES;
    let to = at + MATCH_MIN_BYTES;
    while (to < end && bytes[to] === bytes[candidate + to - at]) to += 1;
    return to - at;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (bytes[at] ?? 0) |
    ((bytes[at + 1] ?? 0) << 8) |
    ((bytes[at + 2] ?? 0) << 16) |
    ((bytes[at + 3] ?? 0) << 24)
  );
}
