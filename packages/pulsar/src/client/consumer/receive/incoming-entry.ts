import { compressionOfWire } from "../../../compression/compression.ts";
import { splitBatch } from "../../../wire/batch.ts";
import type { BatchedMessage } from "../../../wire/batch.ts";
import type { CommandMessage } from "../../../wire/definition/consumer.ts";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import type { MessageMetadata } from "../../../wire/definition/metadata.ts";
import { decodeMetadata, isIntact, splitEntry } from "../../../wire/entry.ts";
import { bufferOf } from "../../../wire/message.ts";
import { ProtocolError } from "../../../wire/protocol-error.ts";
import { MessageId } from "../../message/message-id.ts";
import { CorruptEntryError } from "./corrupt-entry-error.ts";
import type { ValidationErrorName } from "./corrupt-entry-error.ts";
import { DeliveredMessage } from "./delivered-message.ts";
import type { EntryContext } from "./delivered-message.ts";
import { entryIdOf, entryKey } from "./delivery.ts";
import type { Delivery } from "./delivery.ts";
import type { QueuedEntry } from "./receive-queue.ts";
import { UnackedSet } from "../acknowledge/unacked-set.ts";
import { UnreadableMessageError } from "./unreadable-message-error.ts";

/** The result of one call of `receive`: a message, or the error that replaces it. */
export type Received = DeliveredMessage | UnreadableMessageError;

/** What the entries of one consumer share. */
export interface EntryRules {
  readonly topic: string;
  /** Bytes of the largest message, decompressed and assembled. */
  readonly messageBytesMax: number;
  /** Whether a message lies before the start position. */
  readonly isPassed: (delivery: Delivery, batchIndex: number | undefined) => boolean;
  /**
   * A message is not handed out: it lies before the start position, or was removed by compaction.
   */
  readonly onSkipped: (delivery: Delivery, index: number) => void;
}

/** A MESSAGE frame, verified but not decompressed. */
export interface RawEntry {
  readonly id: MessageIdData;
  readonly metadata: MessageMetadata;
  readonly payload: Buffer;
  readonly redeliveryCount: number;
  /** For a batch: the broker's ack set, the messages not yet acknowledged; empty if that is all. */
  readonly ackSet: readonly bigint[];
}

/** Bytes of the smallest batched message: two lengths and one metadata field. */
const BATCHED_BYTES_MIN = 6;

/** Messages that a corrupt batch may claim: more than clients put into one. */
const CLAIMED_MAX = 100_000;

/** Decodes a MESSAGE up to its payload. Throws a `CorruptEntryError` if its checksum is wrong. */
export function readRawEntry(command: CommandMessage, bytes: Buffer): RawEntry {
  const entry = orCorrupt("checksumMismatch", () => splitEntry(bytes));
  if (!isIntact(entry)) throw new CorruptEntryError("checksumMismatch");
  return {
    id: entryIdOf(command.messageId),
    metadata: orCorrupt("checksumMismatch", () => decodeMetadata(entry)),
    payload: entry.payload,
    redeliveryCount: command.redeliveryCount ?? 0,
    ackSet: command.ackSet ?? [],
  };
}

/**
 * The permits that the broker counted for a corrupt entry. They must be granted again, or a few
 * corrupt batches would use up all permits. 1 if the number cannot be decoded.
 */
export function claimedMessages(bytes: Buffer): number {
  try {
    const { numMessagesInBatch = 1 } = decodeMetadata(splitEntry(bytes));
    return Math.min(Math.max(1, numMessagesInBatch), CLAIMED_MAX);
  } catch (error) {
    if (error instanceof ProtocolError) return 1;
    throw error;
  }
}

/**
 * An entry in the receive queue. It is decompressed, and its batch split, when its first message is
 * taken.
 */
export class IncomingEntry implements QueuedEntry<Received> {
  readonly delivery: Delivery;
  readonly #rules: EntryRules;
  readonly #context: EntryContext;
  readonly #payload: Buffer;
  readonly #batchSize: number | undefined;
  #messages: Iterator<Received, undefined> | undefined;

  /** `chunkIds`: the entries of its earlier chunks. */
  constructor(rules: EntryRules, raw: RawEntry, chunkIds: readonly MessageIdData[] = []) {
    const { id, metadata, payload, redeliveryCount, ackSet } = raw;
    this.#batchSize = batchSizeOf(raw, rules.messageBytesMax);
    const isBatch = this.#batchSize !== undefined;
    const unacked = new UnackedSet(this.#batchSize ?? 1, isBatch ? ackSet : []);
    this.delivery = { key: entryKey(id), id, chunkIds, unacked };
    this.#rules = rules;
    this.#context = { topic: rules.topic, delivery: this.delivery, metadata, redeliveryCount };
    this.#payload = payload;
    this.permits = unacked.count;
  }

  /** The broker does not count messages that are acknowledged. */
  readonly permits: number;

  next(): Received | undefined {
    this.#messages ??= this.#open();
    const result = this.#messages.next();
    return result.done === true ? undefined : result.value;
  }

  *#open(): Generator<Received, undefined> {
    const payload = this.#readablePayload();
    if (payload instanceof UnreadableMessageError) yield payload;
    else if (this.#batchSize === undefined) yield* this.#single(payload);
    else yield* this.#batch(payload, this.#batchSize);
  }

  *#single(payload: Buffer): Generator<Received, undefined> {
    const { isPassed, onSkipped } = this.#rules;
    if (isPassed(this.delivery, undefined)) onSkipped(this.delivery, 0);
    else yield new DeliveredMessage(this.#context, payload);
  }

  *#batch(payload: Buffer, size: number): Generator<Received, undefined> {
    const parts = splitBatch(payload, size);
    for (let index = 0; index < size; index++) {
      const part = nextPart(parts);
      if (part === undefined) return;
      if (!this.delivery.unacked.has(index)) continue;
      const { metadata } = part;
      if (metadata.compactedOut === true || this.#rules.isPassed(this.delivery, index))
        this.#rules.onSkipped(this.delivery, index);
      else yield new DeliveredMessage(this.#context, bufferOf(part.payload), { index, metadata });
    }
  }

  #readablePayload(): Buffer | UnreadableMessageError {
    const { compression = 0, uncompressedSize = 0, encryptionKeys = [] } = this.#context.metadata;
    if (encryptionKeys.length > 0) return this.#unreadable("is encrypted");
    if (compression === 0) return this.#payload;
    const { messageBytesMax } = this.#rules;
    if (uncompressedSize > messageBytesMax)
      return this.#unreadable(`has ${uncompressedSize} bytes; ${messageBytesMax} are allowed`);
    try {
      const { codec } = compressionOfWire(compression);
      return bufferOf(codec.decompress(this.#payload, uncompressedSize));
    } catch (error) {
      // The checksum is right, so another client may be able to decompress it.
      return this.#unreadable("cannot be uncompressed", error);
    }
  }

  #unreadable(why: string, cause?: unknown): UnreadableMessageError {
    const { topic } = this.#rules;
    const messageId = MessageId.of(this.delivery.id);
    const chunkIds = this.delivery.chunkIds.map((id) => MessageId.of(id));
    return new UnreadableMessageError(why, { topic, messageId, chunkIds }, { cause });
  }
}

/** Undefined for an entry without a batch. */
function batchSizeOf({ metadata, payload }: RawEntry, messageBytesMax: number): number | undefined {
  const { numMessagesInBatch: size, compression = 0, uncompressedSize = 0 } = metadata;
  if (size === undefined) return undefined;
  const bytes = compression === 0 ? payload.length : Math.min(uncompressedSize, messageBytesMax);
  if (size >= 1 && size * BATCHED_BYTES_MIN <= bytes) return size;
  throw new CorruptEntryError("batchDeSerializeError");
}

function nextPart(parts: Iterator<BatchedMessage, void>): BatchedMessage | undefined {
  const result = orCorrupt("batchDeSerializeError", () => parts.next());
  return result.done === true ? undefined : result.value;
}

function orCorrupt<T>(validationError: ValidationErrorName, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    if (cause instanceof ProtocolError) throw new CorruptEntryError(validationError, { cause });
    throw cause;
  }
}
