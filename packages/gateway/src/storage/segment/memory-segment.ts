import type { NewEntry, StoredEntry } from "../entry.ts";
import type { Position } from "../position.ts";
import type { SegmentFacts } from "./segment-list.ts";

/**
 * Bytes of the first chunk of a segment, and of the largest; each is twice the one before it, unless an entry needs more.
 * A larger first one would cost topics with few messages, a larger last one leaves more unused at the end.
 */
const FIRST_CHUNK_BYTES = 512;
const CHUNK_BYTES_MAX = 64 * 1024;

/**
 * A part of a log in memory. Entries lie one after another in chunks and are made into objects when they are read: as
 * objects with a buffer each, entries of 60 bytes took 1,000.
 */
export class MemorySegment implements SegmentFacts {
  readonly ledgerId: number;
  readonly #chunks: Buffer[] = [];
  /** Of each entry. */
  readonly #chunkOf: number[] = [];
  readonly #offsets: number[] = [];
  readonly #lengths: number[] = [];
  readonly #messageCounts: number[] = [];
  readonly #publishedAtMs: number[] = [];
  /** Bytes of the newest chunk that are used. */
  #used = 0;
  sizeBytes = 0;
  newestAtMs: number = -Infinity;

  constructor(ledgerId: number) {
    this.ledgerId = ledgerId;
  }

  get entryCount(): number {
    return this.#lengths.length;
  }

  add({ parts, messageCount, publishedAtMs }: NewEntry, recordBytes: number): Position {
    const length = parts.reduce((bytes, part) => bytes + part.length, 0);
    const chunk = this.#chunkFor(length);
    const position = { ledgerId: this.ledgerId, entryId: this.entryCount };
    this.#chunkOf.push(this.#chunks.length - 1);
    this.#offsets.push(this.#used);
    this.#lengths.push(length);
    this.#messageCounts.push(messageCount);
    this.#publishedAtMs.push(publishedAtMs);
    for (const part of parts) {
      chunk.set(part, this.#used);
      this.#used += part.length;
    }
    this.sizeBytes += recordBytes;
    this.newestAtMs = Math.max(this.newestAtMs, publishedAtMs);
    return position;
  }

  entry(entryId: number): StoredEntry {
    const offset = this.#offsets[entryId] ?? 0;
    const chunk = this.#chunks[this.#chunkOf[entryId] ?? 0];
    return {
      position: { ledgerId: this.ledgerId, entryId },
      bytes: chunk?.subarray(offset, offset + (this.#lengths[entryId] ?? 0)) ?? Buffer.alloc(0),
      messageCount: this.#messageCounts[entryId] ?? 0,
      publishedAtMs: this.#publishedAtMs[entryId] ?? 0,
    };
  }

  /** The first entry that was published at this time or later; there is one if `newestAtMs` is not before it. */
  firstFrom(atMs: number): number {
    return this.#publishedAtMs.findIndex((publishedAtMs) => publishedAtMs >= atMs);
  }

  #chunkFor(length: number): Buffer {
    const newest = this.#chunks.at(-1);
    if (newest !== undefined && this.#used + length <= newest.length) return newest;
    const twice = newest === undefined ? FIRST_CHUNK_BYTES : 2 * newest.length;
    const chunk = Buffer.allocUnsafeSlow(Math.max(Math.min(CHUNK_BYTES_MAX, twice), length));
    this.#chunks.push(chunk);
    this.#used = 0;
    return chunk;
  }
}
