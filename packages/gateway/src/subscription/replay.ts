import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";

/** An entry that is to be delivered again. */
export interface Returned {
  readonly position: Position;
  readonly redeliveryCount: number;
}

/** Entries that came back, lowest first. Only their positions: the log has the rest. */
export class Replay {
  /** Highest first, so that the lowest is taken from the end; unless something was added. */
  #returned: Returned[] = [];
  #isSorted = true;

  get length(): number {
    return this.#returned.length;
  }

  add(returned: Returned): void {
    this.#returned.push(returned);
    this.#isSorted = false;
  }

  /** Leaves out the lowest ones that `isAcked` says are. */
  skip(isAcked: (position: Position) => boolean): void {
    for (;;) {
      const lowest = this.first;
      if (lowest === undefined || !isAcked(lowest.position)) return;
      this.#returned.pop();
    }
  }

  get first(): Returned | undefined {
    this.#sort();
    return this.#returned.at(-1);
  }

  /** Takes out the lowest ones. */
  take(count: number): readonly Returned[] {
    this.#sort();
    return this.#returned.splice(-count).toReversed();
  }

  /** How many entries of one ledger follow each other from the first one on, at most so many. */
  runLength(countMax: number): number {
    const { position } = this.first ?? {};
    if (position === undefined) return 0;
    let count = 1;
    while (count < countMax) {
      const next = this.#returned.at(-1 - count)?.position;
      const follows =
        next?.ledgerId === position.ledgerId && next.entryId === position.entryId + count;
      if (!follows) break;
      count++;
    }
    return count;
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#returned.sort((a, b) => comparePositions(b.position, a.position));
    this.#isSorted = true;
  }
}
