import { comparePositions } from "../../../storage/position.ts";
import type { Position } from "../../../storage/position.ts";

/** An entry of a Key_Shared subscription that waits for its consumer, or came back from one. */
export interface WaitingEntry {
  readonly position: Position;
  readonly redeliveryCount: number;
  readonly keyHash: number;
}

/** Only this many of the lowest entries are looked at, which bounds the work of a question. */
const WINDOW = 500;

/**
 * Positions that were passed over because the consumer of their key could not take them. A question
 * costs the window and what was added since the last one, however many entries wait.
 */
export class WaitingKeys {
  /** Highest first: the window is at the end, where an array changes at little cost. */
  #entries: WaitingEntry[] = [];
  /** In no order, not among `#entries` yet. */
  #added: WaitingEntry[] = [];
  /** Entries per hash, those included that were taken out and not settled yet. */
  readonly #hashes = new Map<number, number>();

  get length(): number {
    return this.#entries.length + this.#added.length;
  }

  /** Whether no more entries should be passed over. */
  get isFull(): boolean {
    return this.length >= WINDOW;
  }

  /** Whether an entry with this hash waits or was taken out and not settled. */
  hasHash(keyHash: number): boolean {
    return this.#hashes.has(keyHash);
  }

  add(entry: WaitingEntry): void {
    this.#hashes.set(entry.keyHash, (this.#hashes.get(entry.keyHash) ?? 0) + 1);
    this.putBack(entry);
  }

  /** An entry that was taken out waits again. */
  putBack(entry: WaitingEntry): void {
    this.#added.push(entry);
  }

  /** An entry that was taken out has been delivered, or need not be. */
  settle({ keyHash }: WaitingEntry): void {
    const count = (this.#hashes.get(keyHash) ?? 0) - 1;
    if (count > 0) this.#hashes.set(keyHash, count);
    else this.#hashes.delete(keyHash);
  }

  /** Drops the entries of the window that are acknowledged. */
  forget(isAcked: (position: Position) => boolean): void {
    this.#sortAddedIn();
    const window = this.#entries.splice(-WINDOW);
    for (const entry of window)
      if (isAcked(entry.position)) this.settle(entry);
      else this.#entries.push(entry);
  }

  /**
   * Takes out the first entries that follow each other in the log and can be delivered. Per hash only
   * in order: an entry behind one that must wait, waits too.
   */
  takeRun(countMax: number, canDeliver: (keyHash: number) => boolean): readonly WaitingEntry[] {
    this.#sortAddedIn();
    const blocked = new Set<number>();
    const isReady = ({ keyHash }: WaitingEntry): boolean => {
      if (blocked.has(keyHash)) return false;
      if (canDeliver(keyHash)) return true;
      blocked.add(keyHash);
      return false;
    };
    const window = this.#entries.slice(-WINDOW).toReversed();
    const from = window.findIndex(isReady);
    if (from === -1) return [];
    let to = from + 1;
    while (to < window.length && to - from < countMax) {
      const [previous, next] = [window[to - 1], window[to]];
      if (previous === undefined || next === undefined) break;
      if (!follows(next.position, previous.position) || !isReady(next)) break;
      to++;
    }
    this.#entries.splice(this.#entries.length - to, to - from);
    return window.slice(from, to);
  }

  /** Sorts only the entries that are lower than the highest added one. */
  #sortAddedIn(): void {
    const [highest, ...lower] = this.#added.toSorted(highestFirst);
    if (highest === undefined) return;
    const tail = this.#entries.splice(this.#firstLowerThan(highest));
    const sorted = [highest, ...tail, ...lower].toSorted(highestFirst);
    for (const entry of sorted) this.#entries.push(entry);
    this.#added = [];
  }

  #firstLowerThan(entry: WaitingEntry): number {
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const other = this.#entries[middle];
      if (other !== undefined && highestFirst(other, entry) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function highestFirst(a: WaitingEntry, b: WaitingEntry): number {
  return comparePositions(b.position, a.position);
}

function follows(next: Position, previous: Position): boolean {
  return next.ledgerId === previous.ledgerId && next.entryId === previous.entryId + 1;
}
