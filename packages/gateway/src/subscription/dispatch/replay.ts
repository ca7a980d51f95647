import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import { Heap } from "./heap.ts";

/** An entry that is to be delivered again. */
export interface Returned {
  readonly position: Position;
  readonly redeliveryCount: number;
}

/** Acknowledged entries that are left out in one call, which bounds its work. */
const SKIPPED_MAX = 1_000;

/** Entries that came back, lowest first. Only their positions: the log has the rest. */
export class Replay {
  readonly #returned = new Heap<Returned>((a, b) => comparePositions(a.position, b.position));

  get length(): number {
    return this.#returned.length;
  }

  get first(): Returned | undefined {
    return this.#returned.first;
  }

  add(returned: Returned): void {
    this.#returned.add(returned);
  }

  /** Leaves out the lowest ones that `isAcked` says are, up to a bound. */
  skip(isAcked: (position: Position) => boolean): void {
    for (let count = 0; count < SKIPPED_MAX; count++) {
      const lowest = this.first;
      if (lowest === undefined || !isAcked(lowest.position)) return;
      this.#returned.shift();
    }
  }

  /** Takes out the lowest one, and those of its ledger that follow it without a gap. */
  takeRun(countMax: number): readonly Returned[] {
    const run: Returned[] = [];
    for (let next = this.first; next !== undefined && run.length < countMax; next = this.first) {
      const last = run.at(-1)?.position;
      if (last !== undefined && !follows(next.position, last)) break;
      run.push(next);
      this.#returned.shift();
    }
    return run;
  }
}

function follows(next: Position, previous: Position): boolean {
  return next.ledgerId === previous.ledgerId && next.entryId === previous.entryId + 1;
}
