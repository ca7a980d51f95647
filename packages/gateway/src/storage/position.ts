/**
 * Where an entry stands in its topic: the segment's number and the place within it, both from 0.
 * Pulsar calls a segment a ledger, so these are the two numbers of a message id.
 */
export interface Position {
  readonly ledgerId: number;
  readonly entryId: number;
}

/** Before everything that a log can hold. */
export const EARLIEST: Position = { ledgerId: 0, entryId: 0 };

/** Negative if `a` is before `b`, 0 if they are the same, positive if `a` is after `b`. */
export function comparePositions(a: Position, b: Position): number {
  return a.ledgerId - b.ledgerId || a.entryId - b.entryId;
}

export function formatPosition({ ledgerId, entryId }: Position): string {
  return `${ledgerId}:${entryId}`;
}
