import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";

/** An entry of a Key_Shared subscription that waits for its consumer, or came back from one. */
export interface WaitingEntry {
  readonly position: Position;
  readonly redeliveryCount: number;
  readonly keyHash: number;
}

/** Only this many of the lowest entries are looked at, which bounds the work of a question. */
const WINDOW = 500;

/** Positions that were passed over because the consumer of their key could not take them. */
export class WaitingKeys {
  /** Lowest first, unless something was added. */
  #entries: WaitingEntry[] = [];
  #isSorted = true;
  /** Entries per hash, those included that were taken out and not settled yet. */
  readonly #hashes = new Map<number, number>();

  get length(): number {
    return this.#entries.length;
  }

  /** Whether no more entries should be passed over. */
  get isFull(): boolean {
    return this.#entries.length >= WINDOW;
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
    this.#entries.push(entry);
    this.#isSorted = false;
  }

  /** An entry that was taken out has been delivered, or need not be. */
  settle({ keyHash }: WaitingEntry): void {
    const count = (this.#hashes.get(keyHash) ?? 0) - 1;
    if (count > 0) this.#hashes.set(keyHash, count);
    else this.#hashes.delete(keyHash);
  }

  /** Drops the lowest entries that are acknowledged. */
  forget(isAcked: (position: Position) => boolean): void {
    this.#sort();
    const left = this.#entries.filter((entry, index) => {
      const stays = index >= WINDOW || !isAcked(entry.position);
      if (!stays) this.settle(entry);
      return stays;
    });
    if (left.length < this.#entries.length) this.#entries = left;
  }

  /**
   * Takes out the first entries that follow each other in the log and can be delivered. Per hash only
   * in order: an entry behind one that must wait, waits too.
   */
  takeRun(countMax: number, canDeliver: (keyHash: number) => boolean): readonly WaitingEntry[] {
    this.#sort();
    const blocked = new Set<number>();
    const isReady = ({ keyHash }: WaitingEntry): boolean => {
      if (blocked.has(keyHash)) return false;
      if (canDeliver(keyHash)) return true;
      blocked.add(keyHash);
      return false;
    };
    const window = this.#entries.slice(0, WINDOW);
    const from = window.findIndex(isReady);
    if (from === -1) return [];
    let to = from + 1;
    while (to < window.length && to - from < countMax) {
      const [previous, next] = [window[to - 1], window[to]];
      if (previous === undefined || next === undefined) break;
      if (!follows(next.position, previous.position) || !isReady(next)) break;
      to++;
    }
    return this.#entries.splice(from, to - from);
  }

  #sort(): void {
    if (this.#isSorted) return;
    this.#entries.sort((a, b) => comparePositions(a.position, b.position));
    this.#isSorted = true;
  }
}

function follows(next: Position, previous: Position): boolean {
  return next.ledgerId === previous.ledgerId && next.entryId === previous.entryId + 1;
}
