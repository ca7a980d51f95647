import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import type { RawEntry } from "./incoming-entry.ts";

export interface ChunkAssemblerOptions {
  /** Bytes of the largest message. */
  readonly messageBytesMax: number;
  /** Incomplete messages at once; beyond that the oldest is dropped. */
  readonly incompleteMax?: number;
}

/** The result of a chunk. */
export type Assembly =
  | { readonly kind: "incomplete" }
  | {
      readonly kind: "complete";
      /** The last chunk's entry, with the payload of all chunks. */
      readonly raw: RawEntry;
      readonly chunkIds: readonly MessageIdData[];
    }
  /**
   * The message is too large, and no payload was kept. Reported with the last chunk, when all ids
   * are known.
   */
  | {
      readonly kind: "too-large";
      readonly sizeBytes: number;
      readonly chunkIds: readonly MessageIdData[];
    }
  /** A chunk without its predecessor: the message will be redelivered from its first chunk. */
  | { readonly kind: "stray" };

interface Incomplete {
  readonly ids: MessageIdData[];
  readonly parts: Buffer[];
  readonly totalBytes: number;
  sizeBytes: number;
}

/** Incomplete messages per topic. Pulsar's Java client has the same default. */
const INCOMPLETE_MAX = 10;

/** Chunks of one message. The largest message, 1 GiB, has 205 chunks of 5 MiB. */
const CHUNKS_MAX = 10_000;

/**
 * Assembles messages from their chunks. The chunks of one message come in order; those of several
 * producers are interleaved.
 */
export class ChunkAssembler {
  readonly #messageBytesMax: number;
  readonly #incompleteMax: number;
  /** By `uuid`, in the order of their first chunks. */
  readonly #incomplete = new Map<string, Incomplete>();

  constructor({ messageBytesMax, incompleteMax = INCOMPLETE_MAX }: ChunkAssemblerOptions) {
    this.#messageBytesMax = messageBytesMax;
    this.#incompleteMax = incompleteMax;
  }

  add(raw: RawEntry): Assembly {
    const { uuid = "", chunkId = 0, numChunksFromMsg = 0, totalChunkMsgSize = 0 } = raw.metadata;
    if (chunkId === 0) this.#begin(uuid, totalChunkMsgSize);
    const message = this.#incomplete.get(uuid);
    if (message === undefined || message.ids.length !== chunkId) return { kind: "stray" };
    message.sizeBytes += raw.payload.length;
    const isFalse = message.sizeBytes > message.totalBytes || raw.payload.length === 0;
    if (isFalse || chunkId >= CHUNKS_MAX) {
      this.#incomplete.delete(uuid);
      return { kind: "stray" };
    }
    const isTooLarge = message.totalBytes > this.#messageBytesMax;
    if (!isTooLarge) message.parts.push(raw.payload);
    if (chunkId < numChunksFromMsg - 1) {
      message.ids.push(raw.id);
      return { kind: "incomplete" };
    }
    this.#incomplete.delete(uuid);
    const { ids: chunkIds, parts, totalBytes } = message;
    if (isTooLarge) return { kind: "too-large", sizeBytes: totalBytes, chunkIds };
    return { kind: "complete", raw: { ...raw, payload: Buffer.concat(parts) }, chunkIds };
  }

  /** The broker will redeliver all chunks. */
  clear(): void {
    this.#incomplete.clear();
  }

  #begin(uuid: string, totalBytes: number): void {
    this.#incomplete.delete(uuid);
    this.#incomplete.set(uuid, { ids: [], parts: [], totalBytes, sizeBytes: 0 });
    for (const oldest of this.#incomplete.keys()) {
      if (this.#incomplete.size <= this.#incompleteMax) return;
      this.#incomplete.delete(oldest);
    }
  }
}

export function isChunk({ metadata }: RawEntry): boolean {
  return metadata.uuid !== undefined && (metadata.numChunksFromMsg ?? 0) > 1;
}
