import { KEY_VALUE } from "../definition/key-value.ts";
import type { KeyValue } from "../definition/key-value.ts";
import type { MessageMetadata } from "../definition/metadata.ts";
import type { Codec } from "../message.ts";

const PRODUCER_NAME = (1 << 3) | 2;
const SEQUENCE_ID = (2 << 3) | 0;
const PUBLISH_TIME = (3 << 3) | 0;
const PROPERTIES = (4 << 3) | 2;
const PARTITION_KEY = (6 << 3) | 2;
const COMPRESSION = (8 << 3) | 0;
const UNCOMPRESSED_SIZE = (9 << 3) | 0;
const NUM_MESSAGES_IN_BATCH = (11 << 3) | 0;
const EVENT_TIME = (12 << 3) | 0;
const HIGHEST_SEQUENCE_ID = (24 << 3) | 0;

/**
 * Reads and writes the fields that ordinary messages and batches have, in the order of their
 * numbers; other fields are left to `defined`.
 */
export const metadataCodec = (defined: Codec<MessageMetadata>): Codec<MessageMetadata> => ({
  decodeFrom(reader) {
    const start = reader.offset;
    let producerName: string | undefined;
    let sequenceId: bigint | undefined;
    let publishTime: bigint | undefined;
    let properties: KeyValue[] | undefined;
    let partitionKey: string | undefined;
    let compression: number | undefined;
    let uncompressedSize: number | undefined;
    let numMessagesInBatch: number | undefined;
    let eventTime: bigint | undefined;
    let highestSequenceId: bigint | undefined;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag === PRODUCER_NAME) producerName = reader.string();
      else if (tag === SEQUENCE_ID) sequenceId = reader.uint64();
      else if (tag === PUBLISH_TIME) publishTime = reader.uint64();
      else if (tag === PROPERTIES) {
        properties ??= [];
        properties.push(KEY_VALUE.read(reader));
      } else if (tag === PARTITION_KEY) partitionKey = reader.string();
      else if (tag === COMPRESSION) compression = reader.int32();
      else if (tag === UNCOMPRESSED_SIZE) uncompressedSize = reader.uint32();
      else if (tag === NUM_MESSAGES_IN_BATCH) numMessagesInBatch = reader.int32();
      else if (tag === EVENT_TIME) eventTime = reader.uint64();
      else if (tag === HIGHEST_SEQUENCE_ID) highestSequenceId = reader.uint64();
      else return defined.decodeFrom(reader.rewind(start));
    }
    if (producerName === undefined || sequenceId === undefined || publishTime === undefined)
      return defined.decodeFrom(reader.rewind(start));
    return {
      producerName,
      sequenceId,
      publishTime,
      properties,
      partitionKey,
      compression,
      uncompressedSize,
      numMessagesInBatch,
      eventTime,
      highestSequenceId,
    };
  },

  encodeInto(writer, metadata) {
    if (hasRareFields(metadata)) {
      defined.encodeInto(writer, metadata);
      return;
    }
    writer.uint32(PRODUCER_NAME);
    writer.string(metadata.producerName);
    writer.uint32(SEQUENCE_ID);
    writer.uint64(metadata.sequenceId);
    writer.uint32(PUBLISH_TIME);
    writer.uint64(metadata.publishTime);
    if (metadata.properties !== undefined) {
      for (const property of metadata.properties) {
        writer.uint32(PROPERTIES);
        KEY_VALUE.write(writer, property);
      }
    }
    if (metadata.partitionKey !== undefined) {
      writer.uint32(PARTITION_KEY);
      writer.string(metadata.partitionKey);
    }
    if (metadata.compression !== undefined) {
      writer.uint32(COMPRESSION);
      writer.int32(metadata.compression);
    }
    if (metadata.uncompressedSize !== undefined) {
      writer.uint32(UNCOMPRESSED_SIZE);
      writer.uint32(metadata.uncompressedSize);
    }
    if (metadata.numMessagesInBatch !== undefined) {
      writer.uint32(NUM_MESSAGES_IN_BATCH);
      writer.int32(metadata.numMessagesInBatch);
    }
    if (metadata.eventTime !== undefined) {
      writer.uint32(EVENT_TIME);
      writer.uint64(metadata.eventTime);
    }
    if (metadata.highestSequenceId !== undefined) {
      writer.uint32(HIGHEST_SEQUENCE_ID);
      writer.uint64(metadata.highestSequenceId);
    }
  },
});

function hasRareFields(metadata: MessageMetadata): boolean {
  return (
    metadata.replicatedFrom !== undefined ||
    metadata.replicateTo !== undefined ||
    metadata.encryptionKeys !== undefined ||
    metadata.encryptionAlgo !== undefined ||
    metadata.encryptionParam !== undefined ||
    metadata.schemaVersion !== undefined ||
    metadata.partitionKeyB64Encoded !== undefined ||
    metadata.orderingKey !== undefined ||
    metadata.deliverAtTime !== undefined ||
    metadata.markerType !== undefined ||
    metadata.txnidLeastBits !== undefined ||
    metadata.txnidMostBits !== undefined ||
    metadata.nullValue !== undefined ||
    metadata.uuid !== undefined ||
    metadata.numChunksFromMsg !== undefined ||
    metadata.totalChunkMsgSize !== undefined ||
    metadata.chunkId !== undefined ||
    metadata.nullPartitionKey !== undefined ||
    metadata.unknown !== undefined
  );
}
