import { Fifo, requireWhole } from "@sluice/core/internal";
import { entriesOf } from "../segment/slab.ts";
import type { Slab } from "../segment/slab.ts";
import type { Position } from "../position.ts";
import type { ReadBounds, StoredEntry } from "./topic-log.ts";

/** What a slab costs beyond its bytes, about. */
const SLAB_COST_BYTES = 256;

/** Small groups make small slabs; a read looks at no more than this many. */
const SLABS_PER_READ_MAX = 1024;

interface CachedSlab {
  readonly cache: TailCache;
  readonly costBytes: number;
}

/** The memory that the tail caches of all logs share. The slab that came first goes first. */
export class CacheBudget {
  readonly #maxBytes: number;
  readonly #slabs = new Fifo<CachedSlab>();
  #usedBytes = 0;

  constructor(maxBytes: number) {
    requireWhole("cacheBytesMax", maxBytes, 0);
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Notes a slab that `cache` has put at its end. */
  note(cache: TailCache, slab: Slab): void {
    const costBytes = slab.bytes.length + slab.offsets.byteLength + SLAB_COST_BYTES;
    this.#slabs.push({ cache, costBytes });
    this.#usedBytes += costBytes;
    while (this.#usedBytes > this.#maxBytes) {
      const oldest = this.#slabs.shift();
      if (oldest === undefined) return;
      this.#usedBytes -= oldest.costBytes;
      oldest.cache.forgetOldest();
    }
  }
}

/**
 * The newest entries of one log, for readers that keep up. What it has is always the log's end
 * without a gap, so a reader finds all from a position on, or must look in the files first.
 */
export class TailCache {
  readonly #budget: CacheBudget;
  #slabs: Slab[] = [];
  #head = 0;
  #isClosed = false;

  constructor(budget: CacheBudget) {
    this.#budget = budget;
  }

  add(slab: Slab): void {
    if (this.#isClosed) return;
    this.#slabs.push(slab);
    this.#budget.note(this, slab);
  }

  /** Entries from one that is stored, or none if it is no longer here. */
  read({ ledgerId, entryId }: Position, { countMax, bytesMax }: ReadBounds): StoredEntry[] {
    let at = this.#indexOf(ledgerId, entryId);
    let slab = this.#slabs[at];
    if (slab?.ledgerId !== ledgerId) return [];
    const entries = entriesOf(slab, entryId, { countMax, bytesMax });
    let leftBytes = bytesMax - sumOf(entries);
    const atMax = at + SLABS_PER_READ_MAX;
    // Only after the last entry of a slab comes the first one of the next.
    while (at < atMax && isLast(slab, entries.at(-1)) && entries.length < countMax) {
      slab = this.#slabs[++at];
      if (slab === undefined) break;
      const bounds = { countMax: countMax - entries.length, bytesMax: leftBytes };
      const more = entriesOf(slab, slab.firstEntryId, bounds);
      leftBytes -= sumOf(more);
      // The first entry of a slab comes even if it is too large, for readers that have none yet.
      if (leftBytes < 0) break;
      entries.push(...more);
    }
    return entries;
  }

  /** Forgets all, for good. The budget gets its bytes back in its own order. */
  close(): void {
    this.#isClosed = true;
    this.#slabs = [];
  }

  /** Called by the budget only: it has noted the slabs in the order in which they are here. */
  forgetOldest(): void {
    if (this.#isClosed) return;
    this.#head++;
    if (this.#head * 2 < this.#slabs.length) {
      // What is forgotten must not be kept alive until the front is cut.
      this.#slabs[this.#head - 1] = NOTHING;
      return;
    }
    this.#slabs = this.#slabs.slice(this.#head);
    this.#head = 0;
  }

  /** Of the last slab that begins at or before an entry; before the head if there is none. */
  #indexOf(ledgerId: number, entryId: number): number {
    let low = this.#head;
    let high = this.#slabs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const slab = this.#slabs[middle] ?? NOTHING;
      const isAfter =
        slab.ledgerId > ledgerId || (slab.ledgerId === ledgerId && slab.firstEntryId > entryId);
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }
}

function isLast(slab: Slab, entry: StoredEntry | undefined): boolean {
  return entry?.position.entryId === slab.firstEntryId + slab.offsets.length - 1;
}

function sumOf(entries: readonly StoredEntry[]): number {
  return entries.reduce((bytes, entry) => bytes + entry.bytes.length, 0);
}

const NOTHING: Slab = {
  ledgerId: -1,
  salt: Buffer.alloc(0),
  firstEntryId: 0,
  bytes: Buffer.alloc(0),
  offsets: new Uint32Array(0),
};
