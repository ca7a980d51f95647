import type { PartlyAcked } from "../../storage/cursor/cursor-snapshot.ts";
import { comparePositions, formatPosition } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import type { AckSet } from "../delivery.ts";

/** 65,536 messages in one batch. */
const WORDS_PER_SET_MAX = 1024;

/** Words of all sets of a subscription: half a megabyte. */
const ACK_SET_WORDS_MAX = 64 * 1024;

/**
 * Which messages of batches are acknowledged while the rest of their batch is not. A set for which
 * there is no room is forgotten: its messages are delivered again.
 */
export class AckSets {
  readonly #sets = new Map<string, PartlyAcked>();
  #words = 0;
  /** Sets before it count as removed; they go at the next sweep. */
  #before: Position | undefined;
  #changesSinceSweep = 0;

  get(position: Position): AckSet | undefined {
    if (this.#sets.size === 0) return undefined;
    return this.#sets.get(formatPosition(position))?.ackSet;
  }

  /** Acknowledges those messages whose bits are not set. Answers whether none is left. */
  narrow(position: Position, ackSet: AckSet): boolean {
    this.#noteChange();
    const known = this.get(position);
    const left = trimmed(known === undefined ? ackSet : intersection(known, ackSet));
    this.delete(position);
    if (left.length === 0) return true;
    const hasRoom =
      left.length <= WORDS_PER_SET_MAX && this.#words + left.length <= ACK_SET_WORDS_MAX;
    if (!hasRoom) return false;
    this.#sets.set(formatPosition(position), { position, ackSet: left });
    this.#words += left.length;
    return false;
  }

  delete(position: Position): void {
    if (this.#sets.size === 0) return;
    const key = formatPosition(position);
    this.#words -= this.#sets.get(key)?.ackSet.length ?? 0;
    this.#sets.delete(key);
  }

  /** Positions only grow until `clear`. Nobody asks for a set before them any more. */
  deleteBefore(position: Position): void {
    this.#before = position;
    this.#noteChange();
  }

  clear(): void {
    this.#before = undefined;
    this.#sets.clear();
    this.#words = 0;
  }

  all(): readonly PartlyAcked[] {
    this.#sweep();
    return [...this.#sets.values()];
  }

  /** Looks at all sets once in as many changes, so that a cumulative acknowledgement costs O(1). */
  #noteChange(): void {
    if (++this.#changesSinceSweep > this.#sets.size) this.#sweep();
  }

  #sweep(): void {
    this.#changesSinceSweep = 0;
    const before = this.#before;
    if (before === undefined) return;
    for (const { position } of this.#sets.values())
      if (comparePositions(position, before) < 0) this.delete(position);
  }
}

/** Words that one set does not have are zero. */
function intersection(a: AckSet, b: AckSet): AckSet {
  return a.slice(0, b.length).map((word, index) => word & (b[index] ?? 0n));
}

function trimmed(ackSet: AckSet): AckSet {
  return ackSet.slice(0, ackSet.findLastIndex((word) => word !== 0n) + 1);
}
