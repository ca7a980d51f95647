import { KEY_VALUE } from "../definition/key-value.ts";
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

/** Writes the fields that ordinary messages and batches have, in the order of their numbers. */
export const metadataCodec = (defined: Codec<MessageMetadata>): Codec<MessageMetadata> => ({
  decodeFrom: (reader) => defined.decodeFrom(reader),

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
