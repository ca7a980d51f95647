import { SINGLE_MESSAGE_METADATA } from "./definition/metadata.ts";
import type { SingleMessageMetadata } from "./definition/metadata.ts";
import { ProtocolError } from "./protocol-error.ts";
import { ProtoReader } from "./proto-reader.ts";
import { ProtoWriter } from "./proto-writer.ts";

/** One message of a batch. */
export interface BatchedMessage {
  readonly metadata: SingleMessageMetadata;
  readonly payload: Uint8Array;
}

/** Writes messages into the payload of one entry. */
export class BatchWriter {
  #writer = new ProtoWriter();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get sizeBytes(): number {
    return this.#writer.offset;
  }

  add(metadata: Omit<SingleMessageMetadata, "payloadSize">, payload: Uint8Array): void {
    const lengthAt = this.#writer.offset;
    this.#writer.fixedUint32(0);
    SINGLE_MESSAGE_METADATA.encodeInto(this.#writer, withSize(metadata, payload.length));
    this.#writer.finish().writeUInt32BE(this.#writer.offset - lengthAt - 4, lengthAt);
    this.#writer.raw(payload);
    this.#count++;
  }

  /** The uncompressed payload of all added messages; the next batch starts empty. */
  take(): Buffer {
    const payload = this.#writer.finish();
    // The next batch will be about as large.
    this.#writer = new ProtoWriter(0, payload.length);
    this.#count = 0;
    return payload;
  }
}

/** Splits the uncompressed payload of an entry into its `count` messages. */
export function* splitBatch(payload: Buffer, count: number): Generator<BatchedMessage> {
  let offset = 0;
  for (let index = 0; index < count; index++) {
    if (offset + 4 > payload.length) throw tooShort(index, count);
    const metadataStart = offset + 4;
    const metadataEnd = metadataStart + payload.readUInt32BE(offset);
    if (metadataEnd > payload.length) throw tooShort(index, count);
    const reader = new ProtoReader(payload, metadataStart, metadataEnd);
    const metadata = SINGLE_MESSAGE_METADATA.decodeFrom(reader);
    const payloadEnd = metadataEnd + metadata.payloadSize;
    if (metadata.payloadSize < 0 || payloadEnd > payload.length) throw tooShort(index, count);
    yield { metadata, payload: payload.subarray(metadataEnd, payloadEnd) };
    offset = payloadEnd;
  }
}

/** Field by field: object spread would take as long as the rest of a small message. */
function withSize(
  metadata: Omit<SingleMessageMetadata, "payloadSize">,
  payloadSize: number,
): SingleMessageMetadata {
  return {
    properties: metadata.properties,
    partitionKey: metadata.partitionKey,
    payloadSize,
    compactedOut: metadata.compactedOut,
    eventTime: metadata.eventTime,
    partitionKeyB64Encoded: metadata.partitionKeyB64Encoded,
    orderingKey: metadata.orderingKey,
    sequenceId: metadata.sequenceId,
    nullValue: metadata.nullValue,
    nullPartitionKey: metadata.nullPartitionKey,
    unknown: metadata.unknown,
  } satisfies Record<keyof SingleMessageMetadata, unknown>;
}

function tooShort(index: number, count: number): ProtocolError {
  return new ProtocolError(`a batch of ${count} ends within message ${index + 1}`);
}
