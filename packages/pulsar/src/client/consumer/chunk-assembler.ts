import type { MessageIdData } from "../../wire/definition/message-id.ts";
import type { RawEntry } from "./incoming-entry.ts";

export interface ChunkAssemblerOptions {
  /** The largest message. */
  readonly messageBytesMax: number;
  /** Messages that may be incomplete at once. Beyond that the oldest is given up. */
  readonly incompleteMax?: number;
}

/** What came of a chunk. */
export type Assembly =
  | { readonly kind: "incomplete" }
  | {
      readonly kind: "complete";
      /** The last chunk's entry, with the payload of all. */
      readonly raw: RawEntry;
      readonly chunkIds: readonly MessageIdData[];
    }
  /** It did not fit, so that none of it was kept. Told at its end, when all its entries are known. */
  | {
      readonly kind: "too-large";
      readonly sizeBytes: number;
      readonly chunkIds: readonly MessageIdData[];
    }
  /** A chunk whose predecessor is missing: the message will be delivered again from its start. */
  | { readonly kind: "stray" };

interface Incomplete {
  readonly ids: MessageIdData[];
  readonly parts: Buffer[];
  readonly totalBytes: number;
  sizeBytes: number;
}

/** As many as Pulsar's own clients keep. */
const INCOMPLETE_MAX = 10;

/** The largest message has some hundred. */
const CHUNKS_MAX = 10_000;

/**
 * Puts messages together whose payload came in several entries. Chunks of one message come in order;
 * those of several producers come mixed.
 */
export class ChunkAssembler {
  readonly #messageBytesMax: number;
  readonly #incompleteMax: number;
  /** By the id that their producers gave them, the one that began first first. */
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

  /** All will come again. */
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
