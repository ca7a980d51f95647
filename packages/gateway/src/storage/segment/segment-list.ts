import { EARLIEST, comparePositions } from "../position.ts";
import type { Position } from "../position.ts";
import type { Retention } from "../entry.ts";

const DRAIN_AFTER_MS = 10 * 60_000;

/** What a list must know of a segment. All but the id may grow while it is the newest. */
export interface SegmentFacts {
  readonly ledgerId: number;
  readonly entryCount: number;
  readonly sizeBytes: number;
  /** The newest publish time; -Infinity if there is no entry. */
  readonly newestAtMs: number;
}

/** An entry's segment and its place in it. */
export interface Located<S> {
  readonly segment: S;
  readonly entryId: number;
}

/** The segments of a log, oldest first, their ids without gaps; and the arithmetic of positions. */
export class SegmentList<S extends SegmentFacts> {
  readonly #segments: S[] = [];

  get newest(): S | undefined {
    return this.#segments.at(-1);
  }

  get oldest(): S | undefined {
    return this.#segments[0];
  }

  get sizeBytes(): number {
    return this.#segments.reduce((bytes, segment) => bytes + segment.sizeBytes, 0);
  }

  get first(): Position {
    return this.#positionOf(this.locate(EARLIEST));
  }

  get last(): Position | undefined {
    return this.previous(this.end);
  }

  get end(): Position {
    const { newest } = this;
    if (newest === undefined) return EARLIEST;
    return { ledgerId: newest.ledgerId, entryId: newest.entryCount };
  }

  [Symbol.iterator](): IterableIterator<S> {
    return this.#segments[Symbol.iterator]();
  }

  has(segment: S): boolean {
    return this.#segments.includes(segment);
  }

  push(segment: S): void {
    this.#segments.push(segment);
  }

  removeOldest(): void {
    this.#segments.shift();
  }

  /** The first entry at or after a position. */
  locate({ ledgerId, entryId }: Position): Located<S> | undefined {
    for (let at = this.#indexOf(ledgerId); at < this.#segments.length; at++) {
      const segment = this.#segments[at];
      if (segment === undefined) return undefined;
      const wanted = segment.ledgerId === ledgerId ? Math.max(0, entryId) : 0;
      if (wanted < segment.entryCount) return { segment, entryId: wanted };
    }
    return undefined;
  }

  /** Whether there is an entry at a position. Makes no object: it is asked for each id of an ACK. */
  holds({ ledgerId, entryId }: Position): boolean {
    const segment = this.#segments[ledgerId - (this.#segments[0]?.ledgerId ?? 0)];
    return segment?.ledgerId === ledgerId && entryId >= 0 && entryId < segment.entryCount;
  }

  next({ ledgerId, entryId }: Position): Position {
    return this.#positionOf(this.locate({ ledgerId, entryId: entryId + 1 }));
  }

  previous({ ledgerId, entryId }: Position): Position | undefined {
    for (let at = this.#segments.length - 1; at >= 0; at--) {
      const segment = this.#segments[at];
      if (segment === undefined || segment.ledgerId > ledgerId) continue;
      const { entryCount } = segment;
      const before = segment.ledgerId === ledgerId ? Math.min(entryId, entryCount) : entryCount;
      if (before > 0) return { ledgerId: segment.ledgerId, entryId: before - 1 };
    }
    return undefined;
  }

  entryCountBetween(from: Position, to: Position): number {
    return Math.max(0, this.#entryCountBefore(to) - this.#entryCountBefore(from));
  }

  /** Bytes of the entries at and after a position; within its segment, in proportion to entries. */
  sizeBytesFrom({ ledgerId, entryId }: Position): number {
    let bytes = 0;
    for (const segment of this.#segments) {
      if (segment.ledgerId > ledgerId) bytes += segment.sizeBytes;
      if (segment.ledgerId !== ledgerId || segment.entryCount === 0) continue;
      const left = segment.entryCount - Math.max(0, entryId);
      bytes += Math.ceil((segment.sizeBytes * Math.max(0, left)) / segment.entryCount);
    }
    return bytes;
  }

  /** Whether the oldest segment has nothing at or after a position. The newest never goes. */
  isOldestBefore(position: Position): boolean {
    const { oldest, newest } = this;
    if (oldest === undefined || oldest === newest) return false;
    const { ledgerId, entryCount } = oldest;
    return comparePositions({ ledgerId, entryId: entryCount }, position) <= 0;
  }

  /** Whether the oldest segment is consumed, and too old or more than is kept. */
  isOldestExpired(retention: Retention): boolean {
    const { oldest } = this;
    if (oldest === undefined || !this.isOldestBefore(retention.consumedBefore)) return false;
    return this.#isBeyond(oldest, retention);
  }

  /**
   * Whether the newest segment is the only one, has at least `bytesMin`, and is all consumed and not
   * kept by retention: it can go once another one follows it.
   */
  isNewestDrained(retention: Retention, bytesMin: number): boolean {
    const { newest, end } = this;
    if (newest === undefined || newest !== this.oldest) return false;
    if (newest.entryCount === 0 || newest.sizeBytes < bytesMin) return false;
    const { nowMs, consumedBefore, drainAfterMs = DRAIN_AFTER_MS } = retention;
    if (newest.newestAtMs > nowMs - drainAfterMs) return false;
    return comparePositions(end, consumedBefore) <= 0 && this.#isBeyond(newest, retention);
  }

  #isBeyond(segment: S, { nowMs, ageMaxMs, sizeMaxBytes }: Retention): boolean {
    const isOld = ageMaxMs === 0 || segment.newestAtMs < nowMs - ageMaxMs;
    return isOld || this.sizeBytes - segment.sizeBytes >= sizeMaxBytes;
  }

  #positionOf(located: Located<S> | undefined): Position {
    if (located === undefined) return this.end;
    return { ledgerId: located.segment.ledgerId, entryId: located.entryId };
  }

  #entryCountBefore({ ledgerId, entryId }: Position): number {
    let count = 0;
    for (const segment of this.#segments) {
      if (segment.ledgerId > ledgerId) break;
      const { entryCount } = segment;
      const isWhole = segment.ledgerId < ledgerId;
      count += isWhole ? entryCount : Math.min(Math.max(0, entryId), entryCount);
    }
    return count;
  }

  /** Of the first segment with this id or a later one. */
  #indexOf(ledgerId: number): number {
    const oldestId = this.#segments[0]?.ledgerId ?? 0;
    return Math.min(Math.max(0, ledgerId - oldestId), this.#segments.length);
  }
}
