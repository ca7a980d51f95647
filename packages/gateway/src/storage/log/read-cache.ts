import { requireWhole } from "@sluice/core/internal";
import type { Segment } from "../segment/segment.ts";
import type { Slab } from "../segment/slab.ts";

/**
 * What was read from the files of all logs, for readers that take few entries at a time: they find
 * the next ones here instead of reading the file for each. The slab that was used longest ago goes
 * first.
 */
export class ReadCache {
  readonly #bytesMax: number;
  /** In the order of their last use. */
  readonly #slabs = new Map<Slab, Segment>();
  readonly #bySegment = new Map<Segment, Set<Slab>>();
  #usedBytes = 0;

  constructor(bytesMax: number) {
    requireWhole("readCacheBytesMax", bytesMax, 0);
    this.#bytesMax = bytesMax;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** A slab with an entry. */
  find(segment: Segment, entryId: number): Slab | undefined {
    for (const slab of this.#bySegment.get(segment) ?? []) {
      const place = entryId - slab.firstEntryId;
      if (place < 0 || place >= slab.offsets.length) continue;
      this.#slabs.delete(slab);
      this.#slabs.set(slab, segment);
      return slab;
    }
    return undefined;
  }

  add(segment: Segment, slab: Slab): void {
    const slabs = this.#bySegment.get(segment) ?? new Set();
    this.#bySegment.set(segment, slabs.add(slab));
    this.#slabs.set(slab, segment);
    this.#usedBytes += costOf(slab);
    for (const [oldest, owner] of this.#slabs) {
      if (this.#usedBytes <= this.#bytesMax) return;
      this.#remove(owner, oldest);
    }
  }

  /** Forgets the slabs of segments that are removed or closed. */
  forget(segments: Iterable<Segment>): void {
    for (const segment of segments)
      for (const slab of this.#bySegment.get(segment) ?? []) this.#remove(segment, slab);
  }

  #remove(segment: Segment, slab: Slab): void {
    if (!this.#slabs.delete(slab)) return;
    this.#usedBytes -= costOf(slab);
    const slabs = this.#bySegment.get(segment);
    slabs?.delete(slab);
    if (slabs?.size === 0) this.#bySegment.delete(segment);
  }
}

/** The whole buffer stays alive, and the objects around it cost a little. */
function costOf({ bytes, offsets }: Slab): number {
  return bytes.buffer.byteLength + offsets.byteLength + SLAB_COST_BYTES;
}

const SLAB_COST_BYTES = 256;
