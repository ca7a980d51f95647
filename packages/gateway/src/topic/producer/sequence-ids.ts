import { decodeMetadata, ProtocolError, splitEntry } from "@sluice/pulsar/wire";
import { DOCUMENT_BYTES_MAX } from "../../storage/document/document-store.ts";
import type { Position } from "../../storage/position.ts";
import { StorageError } from "../../storage/storage-error.ts";

/** The sequence ids of one entry. */
export interface EntrySequence {
  readonly producer: string;
  /** Of its first message. */
  readonly first: bigint;
  /** Of its last message. Chunks but the last have none: the message has not been published by them. */
  readonly last: bigint | undefined;
}

/** Up to where the log was counted in, and the last sequence id of each producer. */
export interface SequenceSnapshot {
  readonly before: Position;
  readonly lastIds: ReadonlyMap<string, bigint>;
}

/** As many as Pulsar keeps (brokerDeduplicationMaxNumberOfProducers). */
const PRODUCERS_MAX = 10_000;

/** Bytes of a snapshot: names are as long as clients make them. */
const SNAPSHOT_BYTES_MAX = DOCUMENT_BYTES_MAX - 1024;

/** Beside a producer's name in a snapshot: its id of up to 20 digits, quotes, brackets, commas. */
const ID_BYTES = 27;

interface Known {
  /** The highest id that was given to the log. */
  appended: bigint;
  /** The highest id that the log has stored. */
  stored: bigint;
}

/** The last sequence ids of the producers that published last; those that did so longest ago go. */
export class SequenceIds {
  /** In the order of their last entry. */
  readonly #known = new Map<string, Known>();
  #bytes = 0;

  constructor(lastIds: ReadonlyMap<string, bigint> = new Map()) {
    for (const [producer, last] of lastIds) this.onStored({ producer, first: last, last });
  }

  /**
   * Nothing of the producer is on its way to the log: what was appended in vain may come again.
   * Answers its last sequence id that is stored.
   */
  restart(producer: string): bigint | undefined {
    const known = this.#known.get(producer);
    if (known === undefined) return undefined;
    known.appended = known.stored;
    return known.stored;
  }

  /** Whether an entry with its first message, or a later one, was appended before. */
  has({ producer, first }: EntrySequence): boolean {
    const known = this.#known.get(producer);
    return known !== undefined && first <= known.appended;
  }

  isStored({ producer, first }: EntrySequence): boolean {
    const known = this.#known.get(producer);
    return known !== undefined && first <= known.stored;
  }

  onAppend({ producer, last }: EntrySequence): void {
    if (last === undefined) return;
    const known = this.#known.get(producer);
    if (known === undefined) this.#add(producer, { appended: last, stored: -1n });
    else if (last > known.appended) known.appended = last;
  }

  onStored({ producer, last }: EntrySequence): void {
    if (last === undefined) return;
    const known = this.#known.get(producer) ?? { appended: last, stored: -1n };
    if (last > known.stored) known.stored = last;
    if (last > known.appended) known.appended = last;
    this.#remove(producer);
    this.#add(producer, known);
  }

  lastIds(): Map<string, bigint> {
    const lastIds = new Map<string, bigint>();
    for (const [producer, { stored }] of this.#known)
      if (stored >= 0n) lastIds.set(producer, stored);
    return lastIds;
  }

  #add(producer: string, known: Known): void {
    this.#known.set(producer, known);
    this.#bytes += costOf(producer);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= PRODUCERS_MAX && this.#bytes <= SNAPSHOT_BYTES_MAX) return;
      this.#remove(oldest);
    }
  }

  #remove(producer: string): void {
    if (this.#known.delete(producer)) this.#bytes -= costOf(producer);
  }
}

function costOf(producer: string): number {
  return Buffer.byteLength(JSON.stringify(producer)) + ID_BYTES;
}

/** Undefined if the bytes are no entry of a client. */
export function sequenceOf(parts: readonly Uint8Array[]): EntrySequence | undefined {
  try {
    const metadata = decodeMetadata(splitEntry(Buffer.concat(parts)));
    const {
      producerName,
      sequenceId,
      highestSequenceId = 0n,
      chunkId,
      numChunksFromMsg,
    } = metadata;
    const isPart = chunkId !== undefined && chunkId + 1 < (numChunksFromMsg ?? 1);
    // Only batches have a highest one.
    const last = highestSequenceId > sequenceId ? highestSequenceId : sequenceId;
    return { producer: producerName, first: sequenceId, last: isPart ? undefined : last };
  } catch (error) {
    if (error instanceof ProtocolError) return undefined;
    throw error;
  }
}

export function encodeSnapshot({ before, lastIds }: SequenceSnapshot): Buffer {
  const { ledgerId, entryId } = before;
  const producers = [...lastIds].map(([name, last]) => [name, String(last)]);
  return Buffer.from(JSON.stringify({ ledgerId, entryId, producers }));
}

/** Throws a `StorageError` of kind `damaged` if the bytes are none. */
export function decodeSnapshot(bytes: Uint8Array): SequenceSnapshot {
  try {
    const { ledgerId, entryId, producers } = JSON.parse(Buffer.from(bytes).toString("utf8")) as {
      readonly ledgerId: number;
      readonly entryId: number;
      readonly producers: readonly (readonly [string, string])[];
    };
    const lastIds = new Map(producers.map(([name, last]) => [name, BigInt(last)] as const));
    return { before: { ledgerId, entryId }, lastIds };
  } catch (cause) {
    throw new StorageError("damaged", "the sequence ids of a topic cannot be read", { cause });
  }
}
