import { ConfigError, InvariantError } from "@sluice/core";
import type { SluiceError } from "@sluice/core";
import type { Compression } from "../../../compression/compression.ts";
import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import type { MessageMetadata } from "../../../wire/definition/metadata.ts";
import { encodeSendFrame, FRAME_PADDING_BYTES } from "../../../wire/frame.ts";
import { MessageId } from "../../message/message-id.ts";
import { chunksOf } from "./chunks.ts";
import type { PendingSend } from "./pending-sends.ts";
import type { SendCall } from "./send-call.ts";

/** The messages of one SEND. */
export interface SendBatch {
  /** At least one, in order. */
  readonly calls: readonly SendCall[];
  /** The messages in the batch format, if there are several. */
  readonly payload?: Uint8Array | undefined;
}

export interface SendFrameOptions {
  readonly producerId: bigint;
  readonly producerName: string;
  readonly publishTimeMs: number;
  readonly compression: Compression;
  /** The broker's maxMessageSize. */
  readonly messageBytesMax: number;
  /** Whether a larger message is sent in chunks. */
  readonly isChunking: boolean;
  /** -1 if the topic is not partitioned. */
  readonly partition: number;
}

/**
 * Encodes one SEND, or one per chunk; the last chunk settles the calls. Throws a `ConfigError` if the
 * message is larger than the broker accepts.
 */
export function encodeSends(batch: SendBatch, options: SendFrameOptions): readonly PendingSend[] {
  const { calls } = batch;
  const plain = batch.payload ?? callAt(calls, 0).message.payload;
  const { name, wireType, codec } = options.compression;
  const payload = name === "none" ? plain : codec.compress(plain);
  const metadata = metadataOf(batch, options, {
    compression: name === "none" ? undefined : wireType,
    uncompressedSize: name === "none" ? undefined : plain.length,
  });
  if (payload.length <= options.messageBytesMax || !options.isChunking)
    return [sendOf(calls, frameOf(metadata, payload, options), options.partition)];
  const chunks = chunksOf(metadata, payload, options.messageBytesMax);
  const frames = chunks.map((chunk) => frameOf(chunk.metadata, chunk.payload, options));
  return frames.map((frame, at) =>
    at < frames.length - 1 ? chunkOf(calls, frame) : sendOf(calls, frame, options.partition),
  );
}

/** Written field by field: this runs for every message, and object spread is slower. */
function metadataOf(
  { calls, payload }: SendBatch,
  { producerName, publishTimeMs }: SendFrameOptions,
  { compression, uncompressedSize }: Pick<MessageMetadata, "compression" | "uncompressedSize">,
): MessageMetadata {
  const { sequenceId, message } = callAt(calls, 0);
  const isBatch = payload !== undefined;
  // A batch has the key of its first message; brokers choose the Key_Shared consumer by it.
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
    numMessagesInBatch: isBatch ? calls.length : undefined,
    eventTime: isBatch ? undefined : eventTime,
    partitionKeyB64Encoded,
    orderingKey,
    deliverAtTime: message.deliverAtTime,
    highestSequenceId: isBatch ? callAt(calls, -1).sequenceId : undefined,
  };
}

function sendOf(calls: readonly SendCall[], frame: Buffer, partition: number): PendingSend {
  const first = callAt(calls, 0);
  return {
    sequenceId: first.sequenceId,
    highestSequenceId: callAt(calls, -1).sequenceId,
    messages: calls.length,
    sizeBytes: calls.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    frame,
    calledAtMs: first.calledAtMs,
    throttledMsBefore: first.throttledMsBefore,
    onStored: (id) => resolveAll(calls, id, partition),
    onFailed: (error) => rejectAll(calls, error),
  };
}

/** A chunk before the last one: its receipt settles no call. */
function chunkOf(calls: readonly SendCall[], frame: Buffer): PendingSend {
  const { sequenceId, calledAtMs, throttledMsBefore } = callAt(calls, 0);
  return {
    sequenceId,
    highestSequenceId: sequenceId,
    messages: 0,
    sizeBytes: 0,
    frame,
    calledAtMs,
    throttledMsBefore,
    onStored: () => undefined,
    onFailed: (error) => rejectAll(calls, error),
  };
}

function rejectAll(calls: readonly SendCall[], error: SluiceError): void {
  for (const call of calls) call.reject(error);
}

function frameOf(
  metadata: MessageMetadata,
  payload: Uint8Array,
  options: SendFrameOptions,
): Buffer {
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

/** Refuses a message whose payload is larger than the broker accepts. */
export function requirePayloadFits(payloadBytes: number, messageBytesMax: number): void {
  if (payloadBytes <= messageBytesMax) return;
  throw new ConfigError(
    `the message has ${payloadBytes} bytes; the broker accepts ${messageBytesMax}: send less, or set chunking: true`,
  );
}

/** A broker closes the connection on a larger frame, and would again on every resend. */
function requireFrameFits(frameBytes: number, messageBytesMax: number): void {
  if (frameBytes <= messageBytesMax + FRAME_PADDING_BYTES) return;
  throw new ConfigError(
    `the message with its properties and keys makes a frame of ${frameBytes} bytes; the broker accepts ${messageBytesMax + FRAME_PADDING_BYTES}: use shorter properties or keys`,
  );
}

function resolveAll(
  calls: readonly SendCall[],
  id: MessageIdData | undefined,
  partition: number,
): void {
  // Brokers answer no id, or -1:-1, for a non-persistent topic or a duplicate.
  const { ledgerId, entryId } = id ?? MessageId.earliest;
  const batchSize = calls.length;
  let batchIndex = 0;
  for (const call of calls) {
    const within = batchSize > 1 ? { partition, batchIndex, batchSize } : { partition };
    call.resolve(new MessageId(ledgerId, entryId, within));
    batchIndex++;
  }
}

function callAt(calls: readonly SendCall[], at: number): SendCall {
  const call = calls.at(at);
  if (call === undefined) throw new InvariantError("a SEND has no message");
  return call;
}
