/** One place is noted for so many bytes of a segment. */
const BLOCK_BYTES = 16 * 1024;

/** A noted place: where an entry's record begins. */
export interface Block {
  readonly entryId: number;
  readonly offsetBytes: number;
}

/** Bytes of an encoded block. */
const ENCODED_BYTES = 24;

/**
 * Where entries are in a segment, and when they were published, at a bounded cost: 24 bytes for
 * each 16 KiB or each entry, whichever is larger. What lies between is found by reading on.
 */
export class SparseIndex {
  readonly #entryIds: number[] = [];
  readonly #offsets: number[] = [];
  /** Per block, the newest publish time in it and in all before it. */
  readonly #newestAtMs: number[] = [];
  #entryCount = 0;

  get entryCount(): number {
    return this.#entryCount;
  }

  /** The newest publish time; -Infinity if there is no entry. */
  get newestAtMs(): number {
    return this.#newestAtMs.at(-1) ?? -Infinity;
  }

  add(offsetBytes: number, publishedAtMs: number): void {
    const newestAtMs = Math.max(this.newestAtMs, publishedAtMs);
    if (offsetBytes >= (this.#offsets.at(-1) ?? -Infinity) + BLOCK_BYTES) {
      this.#entryIds.push(this.#entryCount);
      this.#offsets.push(offsetBytes);
      this.#newestAtMs.push(newestAtMs);
    } else {
      this.#newestAtMs[this.#newestAtMs.length - 1] = newestAtMs;
    }
    this.#entryCount++;
  }

  /** The last block that begins at or before an entry. */
  blockOf(entryId: number): Block | undefined {
    return this.#block(lastAtMost(this.#entryIds, entryId));
  }

  /** The last block that begins at or before an offset. */
  blockAt(offsetBytes: number): Block | undefined {
    return this.#block(lastAtMost(this.#offsets, offsetBytes));
  }

  /** The block with the first entry that was published at `atMs` or later. */
  blockAtTime(atMs: number): Block | undefined {
    const at = this.#newestAtMs.findIndex((newestAtMs) => newestAtMs >= atMs);
    return this.#block(at);
  }

  encode(): Buffer {
    const bytes = Buffer.alloc(4 + this.#offsets.length * ENCODED_BYTES);
    bytes.writeUInt32LE(this.#entryCount, 0);
    for (const [block, offsetBytes] of this.#offsets.entries()) {
      const at = 4 + block * ENCODED_BYTES;
      bytes.writeDoubleLE(this.#entryIds[block] ?? 0, at);
      bytes.writeDoubleLE(offsetBytes, at + 8);
      bytes.writeDoubleLE(this.#newestAtMs[block] ?? 0, at + 16);
    }
    return bytes;
  }

  /** From bytes that `encode` gave; whoever stored them has checked that they are the same. */
  static decode(bytes: Buffer): SparseIndex {
    const index = new SparseIndex();
    index.#entryCount = bytes.readUInt32LE(0);
    for (let at = 4; at < bytes.length; at += ENCODED_BYTES) {
      index.#entryIds.push(bytes.readDoubleLE(at));
      index.#offsets.push(bytes.readDoubleLE(at + 8));
      index.#newestAtMs.push(bytes.readDoubleLE(at + 16));
    }
    return index;
  }

  #block(at: number): Block | undefined {
    const entryId = this.#entryIds[at];
    const offsetBytes = this.#offsets[at];
    if (entryId === undefined || offsetBytes === undefined) return undefined;
    return { entryId, offsetBytes };
  }
}

/** Of numbers that grow, the place of the last that is at most `value`; -1 if there is none. */
function lastAtMost(numbers: readonly number[], value: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? Infinity) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
