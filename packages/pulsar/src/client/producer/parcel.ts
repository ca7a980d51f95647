import { ConfigError } from "@sluice/core";
import type { SluiceError } from "@sluice/core";
import type { Compression } from "../../compression/compression.ts";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import type { MessageMetadata } from "../../wire/definition/metadata.ts";
import { encodeSendFrame, FRAME_PADDING_BYTES } from "../../wire/frame.ts";
import { MessageId } from "../message/message-id.ts";
import { chunksOf } from "./chunks.ts";
import type { PendingSend } from "./pending-sends.ts";
import type { SendTicket } from "./send-ticket.ts";

/** Messages that go in one SEND. */
export interface Parcel {
  /** At least one, in order. */
  readonly tickets: readonly SendTicket[];
  /** The payloads of all as one, if there are several. */
  readonly batch?: Uint8Array | undefined;
}

export interface ParcelOptions {
  readonly producerId: bigint;
  readonly producerName: string;
  readonly publishTimeMs: number;
  readonly compression: Compression;
  readonly messageBytesMax: number;
  /** Whether a message that is larger goes in several pieces. */
  readonly isChunking: boolean;
  /** -1 if the topic is not partitioned. */
  readonly partition: number;
}

/**
 * Makes the bytes of a SEND, or of several if the message goes in pieces; the last of them stands
 * for the whole. Throws if it is larger than the broker takes.
 */
export function pack(parcel: Parcel, options: ParcelOptions): readonly PendingSend[] {
  const { tickets, batch } = parcel;
  const first = ticketAt(tickets, 0);
  const plain = batch ?? first.message.payload;
  const { name, wireType, codec } = options.compression;
  const payload = name === "none" ? plain : codec.compress(plain);
  const metadata = metadataOf(parcel, options, {
    compression: name === "none" ? undefined : wireType,
    uncompressedSize: name === "none" ? undefined : plain.length,
  });
  if (payload.length <= options.messageBytesMax || !options.isChunking)
    return [sendOf(parcel, frameOf(metadata, payload, options), options.partition)];
  const chunks = chunksOf(metadata, payload, options.messageBytesMax);
  const frames = chunks.map((chunk) => frameOf(chunk.metadata, chunk.payload, options));
  return frames.map((frame, at) =>
    at < frames.length - 1 ? pieceOf(parcel, frame) : sendOf(parcel, frame, options.partition),
  );
}

/** Field by field: this is made for every message, and spreads are slow. */
function metadataOf(
  { tickets, batch }: Parcel,
  { producerName, publishTimeMs }: ParcelOptions,
  { compression, uncompressedSize }: Pick<MessageMetadata, "compression" | "uncompressedSize">,
): MessageMetadata {
  const { sequenceId, message } = ticketAt(tickets, 0);
  const isBatch = batch !== undefined;
  // A batch has the keys of its first: by them brokers hand it to keyShared consumers.
  const { properties, partitionKey, partitionKeyB64Encoded, orderingKey, eventTime } =
    message.metadata;
  return {
    producerName,
    sequenceId,
    publishTime: BigInt(Math.floor(publishTimeMs)),
    properties: isBatch ? undefined : properties,
    partitionKey,
    compression,
    uncompressedSize,
    numMessagesInBatch: isBatch ? tickets.length : undefined,
    eventTime: isBatch ? undefined : eventTime,
    partitionKeyB64Encoded,
    orderingKey,
    deliverAtTime: message.deliverAtTime,
    highestSequenceId: isBatch ? ticketAt(tickets, -1).sequenceId : undefined,
  };
}

function sendOf({ tickets }: Parcel, frame: Buffer, partition: number): PendingSend {
  const first = ticketAt(tickets, 0);
  return {
    sequenceId: first.sequenceId,
    highestSequenceId: ticketAt(tickets, -1).sequenceId,
    messages: tickets.length,
    sizeBytes: tickets.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    frame,
    deadlineAtMs: first.deadlineAtMs,
    onStored: (id) => resolveAll(tickets, id, partition),
    onFailed: (error) => rejectAll(tickets, error),
  };
}

/** A piece of a message, but not the last: that it is stored tells nobody anything. */
function pieceOf({ tickets }: Parcel, frame: Buffer): PendingSend {
  const { sequenceId, deadlineAtMs } = ticketAt(tickets, 0);
  return {
    sequenceId,
    highestSequenceId: sequenceId,
    messages: 0,
    sizeBytes: 0,
    frame,
    deadlineAtMs,
    onStored: () => undefined,
    onFailed: (error) => rejectAll(tickets, error),
  };
}

function rejectAll(tickets: readonly SendTicket[], error: SluiceError): void {
  for (const ticket of tickets) ticket.reject(error);
}

function frameOf(metadata: MessageMetadata, payload: Uint8Array, options: ParcelOptions): Buffer {
  const { producerId, messageBytesMax } = options;
  requirePayloadFits(payload.length, messageBytesMax);
  const command = {
    producerId,
    sequenceId: metadata.sequenceId,
    numMessages: metadata.numMessagesInBatch,
    highestSequenceId: metadata.highestSequenceId,
    isChunk: metadata.chunkId === undefined ? undefined : true,
  };
  const frame = encodeSendFrame(command, metadata, payload);
  requireFrameFits(frame.length, messageBytesMax);
  return frame;
}

/** Refuses a message that no broker would take. */
export function requirePayloadFits(payloadBytes: number, messageBytesMax: number): void {
  if (payloadBytes <= messageBytesMax) return;
  throw new ConfigError(
    `a message of ${payloadBytes} bytes is larger than the broker takes; at most ${messageBytesMax}`,
  );
}

/** A frame that is too large would make the broker close the connection, again and again. */
function requireFrameFits(frameBytes: number, messageBytesMax: number): void {
  if (frameBytes <= messageBytesMax + FRAME_PADDING_BYTES) return;
  throw new ConfigError(
    `a message's properties and keys make a frame of ${frameBytes} bytes, more than the broker takes`,
  );
}

function resolveAll(
  tickets: readonly SendTicket[],
  id: MessageIdData | undefined,
  partition: number,
): void {
  // A broker that stores nothing gives no id, or -1:-1.
  const { ledgerId, entryId } = id ?? MessageId.earliest;
  const batchSize = tickets.length;
  let batchIndex = 0;
  for (const ticket of tickets) {
    const within = batchSize > 1 ? { partition, batchIndex, batchSize } : { partition };
    ticket.resolve(new MessageId(ledgerId, entryId, within));
    batchIndex++;
  }
}

function ticketAt(tickets: readonly SendTicket[], at: number): SendTicket {
  const ticket = tickets.at(at);
  if (ticket === undefined) throw new ConfigError("a parcel is empty");
  return ticket;
}
