import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { entryIdOf, entryKey } from "./delivery.ts";
import type { Delivery } from "./delivery.ts";
import { UnackedSet } from "./unacked-set.ts";

export interface PendingAcksOptions {
  /**
   * Whether the broker is told of single messages of a batch. If not, it hears of an entry when all
   * of its messages are acknowledged.
   */
  readonly batchIndexAck: boolean;
}

/** An entry that the broker is to be told of. */
export interface PendingEntry {
  readonly id: MessageIdData;
  /** What is left of a batch; undefined if the whole entry is acknowledged. */
  readonly unacked: UnackedSet | undefined;
}

/** What goes to the broker at once. */
export interface AckGroup {
  /** Up to and with this one; sent before the others. */
  readonly cumulative: PendingEntry | undefined;
  readonly individual: readonly PendingEntry[];
}

/** An entry as an ACK names it. */
export function ackIdOf({ id, unacked }: PendingEntry): MessageIdData {
  return unacked === undefined ? id : { ...id, ackSet: unacked.toAckSet() };
}

/**
 * Acknowledgements that the broker has not been told of. Saying one twice changes nothing, and what
 * a cumulative one covers is not said singly.
 */
export class PendingAcks {
  readonly #batchIndexAck: boolean;
  #entries = new Map<string, PendingEntry>();
  #cumulative: PendingEntry | undefined;
  /** Up to where this connection's broker has been told; behind it nothing is said again. */
  #cumulated: MessageIdData | undefined;

  constructor({ batchIndexAck }: PendingAcksOptions) {
    this.#batchIndexAck = batchIndexAck;
  }

  /** Ids that wait to be sent. */
  get size(): number {
    return this.#entries.size + (this.#cumulative === undefined ? 0 : 1);
  }

  /** Answers whether there is something new to tell the broker. */
  ack({ key, id, chunkIds, unacked }: Delivery, index: number): boolean {
    if (!unacked.remove(index)) return false;
    if (unacked.count > 0 && !this.#batchIndexAck) return false;
    this.#add(key, { id, unacked: unacked.count > 0 ? unacked : undefined });
    for (const chunkId of chunkIds) this.ackEntry(chunkId);
    return true;
  }

  /** A whole entry that no delivery is known of. */
  ackEntry(id: MessageIdData): void {
    this.#add(entryKey(id), { id: entryIdOf(id), unacked: undefined });
  }

  /** One message of a batch that no delivery is known of: the broker has to know the others. */
  ackBatchIndex(id: MessageIdData, index: number, batchSize: number): void {
    const key = entryKey(id);
    const known = this.#entries.get(key);
    if (known !== undefined && known.unacked === undefined) return;
    const unacked = known?.unacked ?? new UnackedSet(batchSize);
    unacked.remove(index);
    this.#add(key, { id: entryIdOf(id), unacked: unacked.count > 0 ? unacked : undefined });
  }

  /** Everything up to and with this message. Answers whether there is something new to tell. */
  ackCumulative({ id, unacked }: Delivery, index: number): boolean {
    unacked.removeThrough(index);
    if (unacked.count === 0) return this.#raise({ id, unacked: undefined });
    if (this.#batchIndexAck) return this.#raise({ id, unacked });
    // Without batch indexes only what lies before the batch can be said.
    if (id.entryId === 0n) return false;
    return this.#raise({ id: { ...id, entryId: id.entryId - 1n }, unacked: undefined });
  }

  /** Everything up to and with this entry. */
  ackCumulativeEntry(id: MessageIdData): boolean {
    return this.#raise({ id: entryIdOf(id), unacked: undefined });
  }

  /** The oldest, at most `countMax` of them; they are pending no more. */
  take(countMax: number): AckGroup {
    const individual: PendingEntry[] = [];
    for (const [key, entry] of this.#entries) {
      if (individual.length >= countMax) break;
      individual.push(entry);
      this.#entries.delete(key);
    }
    const cumulative = this.#cumulative;
    this.#cumulative = undefined;
    return { cumulative, individual };
  }

  /** A group that did not arrive, or may not have: it is pending again. */
  restore({ cumulative, individual }: AckGroup): void {
    for (const entry of individual) {
      const key = entryKey(entry.id);
      // What came since knows more.
      if (!this.#entries.has(key)) this.#add(key, entry);
    }
    this.#cumulative ??= cumulative;
  }

  /** The connection is another: what the last one was told may never have arrived. */
  restart(): void {
    this.#cumulated = this.#cumulative?.id;
  }

  /** The consumer moved: what lies behind may be acknowledged once more. */
  clear(): void {
    this.#entries = new Map();
    this.#cumulative = undefined;
    this.#cumulated = undefined;
  }

  #add(key: string, entry: PendingEntry): void {
    if (this.#cumulated !== undefined && compare(entry.id, this.#cumulated) < 0) return;
    this.#entries.set(key, entry);
  }

  #raise(entry: PendingEntry): boolean {
    const { id } = entry;
    if (this.#cumulated !== undefined && compare(id, this.#cumulated) < 0) return false;
    this.#cumulated = id;
    this.#cumulative = entry;
    for (const [key, other] of this.#entries)
      if (compare(other.id, id) < 0 || (entry.unacked === undefined && compare(other.id, id) === 0))
        this.#entries.delete(key);
    return true;
  }
}

/** Entries of one topic, in the order in which they are stored. */
function compare(one: MessageIdData, other: MessageIdData): number {
  if (one.ledgerId !== other.ledgerId) return one.ledgerId < other.ledgerId ? -1 : 1;
  if (one.entryId !== other.entryId) return one.entryId < other.entryId ? -1 : 1;
  return 0;
}
