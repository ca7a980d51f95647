import type { Position } from "../position.ts";

/** Consecutive entries of one ledger: from `from` on, before `to`. */
export interface PositionRange {
  readonly ledgerId: number;
  readonly from: number;
  readonly to: number;
}

/** Ranges in order. An array of them is one. */
export interface Ranges {
  readonly length: number;
  forEach(visit: (range: PositionRange) => void): void;
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
  /** Acknowledged beyond that; in order, no two touch. */
  readonly ranges: Ranges;
  readonly ackSets: readonly PartlyAcked[];
}
