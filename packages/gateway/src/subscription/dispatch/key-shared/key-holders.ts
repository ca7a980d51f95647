import type { Consumer } from "../../consumer.ts";

/** The consumer that has entries of a key, and how many. */
interface Holder {
  readonly consumer: Consumer;
  entries: number;
}

/** Which consumer has unacknowledged entries of which keys: no other one may get the next of them. */
export class KeyHolders {
  readonly #byHash = new Map<number, Holder>();

  /** Whether no other consumer has entries of this key. */
  mayTake(keyHash: number, consumer: Consumer): boolean {
    const holder = this.#byHash.get(keyHash);
    return holder === undefined || holder.consumer === consumer;
  }

  /** A consumer that may take it has one entry more of a key. */
  add(keyHash: number, consumer: Consumer): void {
    const holder = this.#byHash.get(keyHash);
    if (holder === undefined) this.#byHash.set(keyHash, { consumer, entries: 1 });
    else holder.entries++;
  }

  /** The consumer has one entry less of a key. */
  remove(keyHash: number): void {
    const holder = this.#byHash.get(keyHash);
    if (holder === undefined) return;
    holder.entries--;
    if (holder.entries === 0) this.#byHash.delete(keyHash);
  }
}
