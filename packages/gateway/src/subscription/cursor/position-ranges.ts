import type { RangeRun } from "../../storage/cursor/cursor-snapshot.ts";
import type { Position } from "../../storage/position.ts";
import { CHUNK_RANGES_MAX, RangeChunk } from "./range-chunk.ts";

/** Consecutive entries of one ledger: from `from` on, before `to`. */
export interface PositionRange {
  readonly ledgerId: number;
  readonly from: number;
  readonly to: number;
}

/** Neighbours of one ledger that have fewer ranges together become one chunk. */
const JOINED_RANGES_MAX = CHUNK_RANGES_MAX / 2;

/**
 * A set of positions, as ranges in order, no two of which touch. It holds `rangesMax` ranges at most:
 * a position that would need one more is not added.
 *
 * The ranges are kept in chunks of one ledger each. A search takes O(log n) steps; a change moves at
 * most 512 ranges within a chunk and, when a chunk is split or joined, the list of chunks, of which
 * there are at most 2n ÷ 256 and one per ledger.
 */
export class PositionRanges {
  #rangesMax: number;
  #chunks: RangeChunk[] = [];
  #length = 0;
  #entryCount = 0;

  constructor(rangesMax: number) {
    this.#rangesMax = rangesMax;
  }

  /** A smaller bound removes nothing. */
  set rangesMax(rangesMax: number) {
    this.#rangesMax = rangesMax;
  }

  /** Number of ranges. */
  get length(): number {
    return this.#length;
  }

  /** Number of positions. */
  get entryCount(): number {
    return this.#entryCount;
  }

  get first(): PositionRange | undefined {
    const chunk = this.#chunks[0];
    if (chunk === undefined) return undefined;
    return { ledgerId: chunk.ledgerId, from: chunk.fromAt(0), to: chunk.toAt(0) };
  }

  /** Whether the first range is in this ledger and begins after this entry. */
  beginsAfter({ ledgerId, entryId }: Position): boolean {
    const chunk = this.#chunks[0];
    return chunk?.ledgerId === ledgerId && chunk.fromAt(0) > entryId;
  }

  has({ ledgerId, entryId }: Position): boolean {
    const chunk = this.#chunks[this.#chunkOf(ledgerId, entryId)];
    return chunk?.ledgerId === ledgerId && entryId < chunk.toAt(chunk.indexAfter(entryId) - 1);
  }

  /** Answers whether the position is in the set now and was not before. */
  add({ ledgerId, entryId }: Position): boolean {
    const at = this.#chunkOf(ledgerId, entryId);
    const own = this.#inLedger(at, ledgerId);
    const next = this.#inLedger(at + 1, ledgerId);
    const index = own?.indexAfter(entryId) ?? 0;
    const isInOwn = own !== undefined && index < own.length;
    // The neighbours of the position: the range before it, and the first one after it.
    const after = isInOwn ? own : next;
    const afterIndex = isInOwn ? index : 0;
    if (own !== undefined && entryId < own.toAt(index - 1)) return false;
    const touchesBefore = own?.toAt(index - 1) === entryId;
    const touchesAfter = after?.fromAt(afterIndex) === entryId + 1;
    if (touchesBefore && touchesAfter) {
      own.setTo(index - 1, after.toAt(afterIndex));
      this.#remove(isInOwn ? at : at + 1, afterIndex);
    } else if (touchesBefore) own.setTo(index - 1, entryId + 1);
    else if (touchesAfter) after.setFrom(afterIndex, entryId);
    else if (this.#length >= this.#rangesMax) return false;
    else if (own !== undefined) this.#insert(at, index, entryId);
    else if (next !== undefined) this.#insert(at + 1, 0, entryId);
    else {
      this.#chunks.splice(at + 1, 0, new RangeChunk(ledgerId));
      this.#insert(at + 1, 0, entryId);
    }
    this.#entryCount++;
    return true;
  }

  /** Adds a range that is after all others and touches none; false if there is no room. */
  append({ ledgerId, from, to }: PositionRange): boolean {
    if (this.#length >= this.#rangesMax) return false;
    let chunk = this.#inLedger(this.#chunks.length - 1, ledgerId);
    if (chunk === undefined || chunk.length >= CHUNK_RANGES_MAX) {
      chunk = new RangeChunk(ledgerId);
      this.#chunks.push(chunk);
    }
    chunk.insert(chunk.length, from, to);
    this.#length++;
    this.#entryCount += to - from;
    return true;
  }

  /** Removes the first range. */
  shift(): void {
    const { first } = this;
    if (first === undefined) return;
    this.#entryCount -= first.to - first.from;
    this.#remove(0, 0);
  }

  removeBefore({ ledgerId, entryId }: Position): void {
    const at = this.#chunkOf(ledgerId, entryId - 1);
    const chunk = this.#chunks[at];
    // All ranges begin at the position or after it.
    if (chunk === undefined) return;
    const isOwn = chunk.ledgerId === ledgerId;
    const index = isOwn ? chunk.indexAfter(entryId - 1) : chunk.length;
    // The last range that begins before the position may reach beyond it.
    const keepsRest = isOwn && chunk.toAt(index - 1) > entryId;
    const gone = keepsRest ? index - 1 : index;
    for (const each of [...this.#chunks.splice(0, at), chunk.slice(0, gone)]) {
      this.#length -= each.length;
      this.#entryCount -= each.entryCount;
    }
    chunk.remove(0, gone);
    if (chunk.length === 0) this.#chunks.shift();
    if (!keepsRest) return;
    this.#entryCount -= entryId - chunk.fromAt(0);
    chunk.setFrom(0, entryId);
  }

  clear(): void {
    this.#chunks = [];
    this.#length = 0;
    this.#entryCount = 0;
  }

  /** A copy of the lowest ranges, at most `countMax`. */
  lowest(countMax: number): readonly RangeRun[] {
    const lowest: RangeRun[] = [];
    let left = countMax;
    for (const chunk of this.#chunks) {
      if (left <= 0) break;
      const run = chunk.run(Math.min(chunk.length, left));
      lowest.push(run);
      left -= run.from.length;
    }
    return lowest;
  }

  #insert(at: number, index: number, entryId: number): void {
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    this.#length++;
    chunk.insert(index, entryId, entryId + 1);
    if (chunk.length <= CHUNK_RANGES_MAX) return;
    const middle = chunk.length >>> 1;
    // Two new ones without room to spare: most acknowledgements come at the end, so that only the last grows.
    const halves = [chunk.slice(0, middle), chunk.slice(middle, chunk.length)];
    this.#chunks.splice(at, 1, ...halves);
  }

  #remove(at: number, index: number): void {
    const chunk = this.#chunks[at];
    if (chunk === undefined) return;
    this.#length--;
    chunk.remove(index, index + 1);
    if (chunk.length === 0) this.#chunks.splice(at, 1);
    else if (!this.#join(at)) this.#join(at - 1);
  }

  /** Joins a chunk with the next one if both are small. */
  #join(at: number): boolean {
    const chunk = this.#chunks[at];
    const next = this.#chunks[at + 1];
    if (chunk === undefined || next?.ledgerId !== chunk.ledgerId) return false;
    if (chunk.length + next.length > JOINED_RANGES_MAX) return false;
    chunk.join(next);
    this.#chunks.splice(at + 1, 1);
    return true;
  }

  #inLedger(at: number, ledgerId: number): RangeChunk | undefined {
    const chunk = this.#chunks[at];
    return chunk?.ledgerId === ledgerId ? chunk : undefined;
  }

  /** Of the last chunk that begins at or before a position; -1 if there is none. */
  #chunkOf(ledgerId: number, entryId: number): number {
    let low = 0;
    let high = this.#chunks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const chunk = this.#chunks[middle];
      const isAfter =
        chunk === undefined ||
        chunk.ledgerId > ledgerId ||
        (chunk.ledgerId === ledgerId && chunk.fromAt(0) > entryId);
      if (isAfter) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }
}
