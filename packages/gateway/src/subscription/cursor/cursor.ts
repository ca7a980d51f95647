import { comparePositions } from "../../storage/position.ts";
import type { CursorSnapshot } from "../../storage/cursor/cursor-snapshot.ts";
import type { Position } from "../../storage/position.ts";
import type { TopicLog } from "../../storage/log/topic-log.ts";
import { AckSets } from "./ack-sets.ts";
import type { Ack, AckSet } from "../delivery.ts";
import { PositionRanges } from "./position-ranges.ts";
import type { PositionRange } from "./position-ranges.ts";

/**
 * As many holes as a shared subscription can have: each is an entry that is delivered and not
 * acknowledged. Acknowledgements that would make more are forgotten.
 */
const RANGES_MAX = 200_000;

/** As many are kept in any case while there is little room. */
const RANGES_MIN = 1_000;

/** Of these the lowest are saved; what is above is delivered again after a restart. */
const RANGES_SAVED_MAX = 100_000;

/** What a log holds, and what follows what in it. */
export type LogOrder = Pick<TopicLog, "first" | "holds" | "next" | "previous" | "end">;

/**
 * What a subscription has acknowledged: all before the mark-delete position, ranges beyond it, and
 * messages of batches. Acknowledgements may be forgotten where there are too many, so that an entry
 * is delivered twice; an entry that is not acknowledged, or not stored, never counts as acknowledged.
 */
export class Cursor {
  /**
   * The stored position, if it was after the end of the log: entries that it counted as acknowledged
   * are gone from the log. The cursor starts at the end instead.
   */
  readonly aheadAt: Position | undefined;
  readonly #log: LogOrder;
  readonly #ranges = new PositionRanges(RANGES_MAX);
  readonly #ackSets = new AckSets();
  #ackedBefore: Position;

  /**
   * From a snapshot that may be older than the log: a crash loses acknowledgements of the last
   * second, and the log may have been trimmed by them. What the log no longer has is acknowledged.
   */
  constructor(log: LogOrder, { ackedBefore, ranges, ackSets }: CursorSnapshot) {
    this.#log = log;
    const { first, end } = log;
    const isAhead = comparePositions(ackedBefore, end) > 0;
    const isBehind = comparePositions(ackedBefore, first) < 0;
    this.#ackedBefore = isAhead ? end : isBehind ? first : ackedBefore;
    let aheadAt = isAhead ? ackedBefore : undefined;
    for (const { ledgerId, from, to } of ranges) {
      const entryCount = this.#entriesOf(ledgerId);
      for (let index = 0; index < from.length; index++) {
        const start = from[index] ?? entryCount;
        const stored = Math.min(to[index] ?? start, entryCount);
        if (stored > start) this.#ranges.append({ ledgerId, from: start, to: stored });
      }
      const last = { ledgerId, entryId: to.at(-1) ?? 0 };
      if (comparePositions(last, end) > 0) aheadAt = last;
    }
    this.aheadAt = aheadAt;
    this.#ranges.removeBefore(this.#ackedBefore);
    for (const { position, ackSet } of ackSets)
      if (this.#isStored(position) && comparePositions(position, this.#ackedBefore) >= 0)
        this.#ackSets.narrow(position, ackSet);
    this.#absorb();
  }

  static startingAt(log: LogOrder, position: Position): Cursor {
    return new Cursor(log, { ackedBefore: position, ranges: [], ackSets: [] });
  }

  /** Everything before it is acknowledged. */
  get ackedBefore(): Position {
    return this.#ackedBefore;
  }

  /** How many entries are acknowledged beyond `ackedBefore`. */
  get ackedBeyond(): number {
    return this.#ranges.entryCount;
  }

  /** Ranges of acknowledged entries beyond `ackedBefore`. */
  get rangeCount(): number {
    return this.#ranges.length;
  }

  /** Whether there is room for as many ranges as a cursor may have. */
  set hasRoom(hasRoom: boolean) {
    this.#ranges.rangesMax = hasRoom ? RANGES_MAX : RANGES_MIN;
  }

  isAcked(position: Position): boolean {
    if (comparePositions(position, this.#ackedBefore) < 0) return true;
    return this.#ranges.length > 0 && this.#ranges.has(position);
  }

  /** The messages of a batch that are left; undefined if all are. */
  ackSetOf(position: Position): AckSet | undefined {
    return this.#ackSets.get(position);
  }

  /** Answers whether this acknowledged the entry, or the last that was left of it. */
  acknowledge({ position, ackSet }: Ack): boolean {
    if (!this.#isStored(position) || this.isAcked(position)) return false;
    if (ackSet !== undefined && !this.#ackSets.narrow(position, ackSet)) return false;
    this.#ackSets.delete(position);
    return this.#settle(position);
  }

  /** Acknowledges all before `position`, and of its entry what `ackSet` leaves out. */
  acknowledgeUpTo({ position, ackSet }: Ack): void {
    if (!this.#isStored(position)) return;
    if (comparePositions(position, this.#ackedBefore) >= 0) this.#advance(position);
    this.acknowledge({ position, ackSet });
  }

  /** Takes everything before a position for acknowledged. The position may be the end of the log. */
  skipTo(position: Position): void {
    if (comparePositions(position, this.#ackedBefore) > 0) this.#advance(position);
  }

  /** Forgets everything and starts at a position. */
  moveTo(position: Position): void {
    this.#ackedBefore = position;
    this.#ranges.clear();
    this.#ackSets.clear();
  }

  snapshot(): CursorSnapshot {
    return {
      ackedBefore: this.#ackedBefore,
      ranges: this.#ranges.lowest(RANGES_SAVED_MAX),
      ackSets: this.#ackSets.all(),
    };
  }

  /**
   * A client may name any position. One that is yet to be written would be lost, and one that never
   * will be would stand in the way of the next ledger.
   */
  #isStored(position: Position): boolean {
    return this.#log.holds(position);
  }

  /** How many entries a ledger has; 0 if the log does not have it. */
  #entriesOf(ledgerId: number): number {
    const last = this.#log.previous({ ledgerId, entryId: Infinity });
    return last?.ledgerId === ledgerId ? last.entryId + 1 : 0;
  }

  /** The first entry at a position or after it. */
  #at({ ledgerId, entryId }: Position): Position {
    return this.#log.next({ ledgerId, entryId: entryId - 1 });
  }

  #settle(position: Position): boolean {
    const { ledgerId, entryId } = this.#ackedBefore;
    if (position.ledgerId === ledgerId && position.entryId === entryId)
      this.#ackedBefore = { ledgerId, entryId: entryId + 1 };
    else if (!this.#ranges.add(position)) return false;
    if (this.#ranges.length > 0) this.#absorb();
    return true;
  }

  #advance(position: Position): void {
    this.#ackedBefore = position;
    this.#ranges.removeBefore(position);
    this.#ackSets.deleteBefore(position);
    this.#absorb();
  }

  /** Takes in the ranges that now begin where everything before is acknowledged. */
  #absorb(): void {
    // Asked first because it makes no object, and is the answer to nearly all acknowledgements.
    while (!this.#ranges.beginsAfter(this.#ackedBefore)) {
      const range = this.#ranges.first;
      if (range === undefined || !this.#isNext(range)) return;
      this.#ackedBefore = { ledgerId: range.ledgerId, entryId: range.to };
      this.#ranges.shift();
    }
  }

  #isNext({ ledgerId, from }: PositionRange): boolean {
    const before = this.#ackedBefore;
    if (before.ledgerId === ledgerId) return from <= before.entryId;
    // Only the log knows whether a ledger ends here and the next one begins there.
    return comparePositions({ ledgerId, entryId: from }, this.#at(before)) <= 0;
  }
}
