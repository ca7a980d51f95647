import type { Position } from "../position.ts";

/**
 * Ranges of consecutive entries of one ledger, in order, no two of which touch: range `i` has the
 * entries from `from[i]` on, before `to[i]`. Typed arrays, because a cursor may have 100,000 ranges
 * and is copied and stored every second.
 */
export interface RangeRun {
  readonly ledgerId: number;
  readonly from: Float64Array;
  readonly to: Float64Array;
}

/** A batch of which some messages are acknowledged; the bits of the others are set. */
export interface PartlyAcked {
  readonly position: Position;
  readonly ackSet: readonly bigint[];
}

/** All that a subscription must remember. */
export interface CursorSnapshot {
  /** The mark-delete position: everything before it is acknowledged. */
  readonly ackedBefore: Position;
  /** Acknowledged beyond that; in order, several runs of one ledger may follow each other. */
  readonly ranges: readonly RangeRun[];
  readonly ackSets: readonly PartlyAcked[];
}
