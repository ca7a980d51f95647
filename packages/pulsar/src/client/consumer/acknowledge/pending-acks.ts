import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import { entryIdOf, entryKey } from "../receive/delivery.ts";
import type { Delivery } from "../receive/delivery.ts";
import { UnackedSet } from "./unacked-set.ts";

export interface PendingAcksOptions {
  /**
   * Whether single messages of a batch are acknowledged. If not, an entry is acknowledged once all
   * its messages are.
   */
  readonly batchIndexAck: boolean;
}

/** An entry to acknowledge. */
export interface PendingEntry {
  readonly id: MessageIdData;
  /** The unacknowledged rest of a batch; undefined if the whole entry is acknowledged. */
  readonly unacked: UnackedSet | undefined;
}

/** The acknowledgements of one ACK, or of one cumulative and one individual ACK. */
export interface AckGroup {
  /** Everything up to and including this entry; sent before the others. */
  readonly cumulative: PendingEntry | undefined;
  readonly individual: readonly PendingEntry[];
}

/** The id of an entry as ACK has it. */
export function ackIdOf({ id, unacked }: PendingEntry): MessageIdData {
  return unacked === undefined ? id : { ...id, ackSet: unacked.toAckSet() };
}

/**
 * Acknowledgements that were not sent yet. A repeated one changes nothing, and entries that a
 * cumulative one covers are not sent individually.
 */
export class PendingAcks {
  readonly #batchIndexAck: boolean;
  #entries = new Map<string, PendingEntry>();
  #cumulative: PendingEntry | undefined;
  /** The last cumulative acknowledgement on this connection; nothing before it is sent again. */
  #cumulated: MessageIdData | undefined;

  constructor({ batchIndexAck }: PendingAcksOptions) {
    this.#batchIndexAck = batchIndexAck;
  }

  /** Ids to send. */
  get size(): number {
    return this.#entries.size + (this.#cumulative === undefined ? 0 : 1);
  }

  /** Answers whether there is a new id to send. */
  ack({ key, id, chunkIds, unacked }: Delivery, index: number): boolean {
    if (!unacked.remove(index)) return false;
    if (unacked.count > 0 && !this.#batchIndexAck) return false;
    this.#add(key, { id, unacked: unacked.count > 0 ? unacked : undefined });
    for (const chunkId of chunkIds) this.ackEntry(chunkId);
    return true;
  }

  /** Acknowledges a whole entry whose delivery is not known. */
  ackEntry(id: MessageIdData): void {
    this.#add(entryKey(id), { id: entryIdOf(id), unacked: undefined });
  }

  /**
   * Acknowledges one message of a batch whose delivery is not known: the broker has the rest of the
   * ack set.
   */
  ackBatchIndex(id: MessageIdData, index: number, batchSize: number): void {
    const key = entryKey(id);
    const known = this.#entries.get(key);
    if (known !== undefined && known.unacked === undefined) return;
    const unacked = known?.unacked ?? new UnackedSet(batchSize);
    unacked.remove(index);
    this.#add(key, { id: entryIdOf(id), unacked: unacked.count > 0 ? unacked : undefined });
  }

  /**
   * Acknowledges everything up to and including this message. Answers whether there is a new id to
   * send.
   */
  ackCumulative({ id, unacked }: Delivery, index: number): boolean {
    unacked.removeThrough(index);
    if (unacked.count === 0) return this.#raise({ id, unacked: undefined });
    if (this.#batchIndexAck) return this.#raise({ id, unacked });
    // Without batch index acknowledgement, only the entries before the batch can be acknowledged.
    if (id.entryId === 0n) return false;
    return this.#raise({ id: { ...id, entryId: id.entryId - 1n }, unacked: undefined });
  }

  /** Acknowledges everything up to and including this entry. */
  ackCumulativeEntry(id: MessageIdData): boolean {
    return this.#raise({ id: entryIdOf(id), unacked: undefined });
  }

  /** Removes and returns the oldest ids, at most `countMax`, and the cumulative one. */
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

  /** Adds a group again that may not have arrived. */
  restore({ cumulative, individual }: AckGroup): void {
    for (const entry of individual) {
      const key = entryKey(entry.id);
      // An acknowledgement that came since covers more of the batch.
      if (!this.#entries.has(key)) this.#add(key, entry);
    }
    this.#cumulative ??= cumulative;
  }

  /** A new connection: acknowledgements on the last one may not have arrived. */
  restart(): void {
    this.#cumulated = this.#cumulative?.id;
  }

  /** A seek moved the subscription: earlier entries may be acknowledged again. */
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

/** Compares entries of one topic by their position. */
function compare(one: MessageIdData, other: MessageIdData): number {
  if (one.ledgerId !== other.ledgerId) return one.ledgerId < other.ledgerId ? -1 : 1;
  if (one.entryId !== other.entryId) return one.entryId < other.entryId ? -1 : 1;
  return 0;
}
