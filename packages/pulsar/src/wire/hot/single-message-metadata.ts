import { KEY_VALUE } from "../definition/key-value.ts";
import type { KeyValue } from "../definition/key-value.ts";
import type { SingleMessageMetadata } from "../definition/metadata.ts";
import type { Codec } from "../message.ts";

const PROPERTIES = (1 << 3) | 2;
const PARTITION_KEY = (2 << 3) | 2;
const PAYLOAD_SIZE = (3 << 3) | 0;
const EVENT_TIME = (5 << 3) | 0;
const SEQUENCE_ID = (8 << 3) | 0;

/** Ordering keys, null values and compaction are rare and left to `defined`. */
export const singleMetadataCodec = (
  defined: Codec<SingleMessageMetadata>,
): Codec<SingleMessageMetadata> => ({
  decodeFrom(reader) {
    const start = reader.offset;
    let properties: KeyValue[] | undefined;
    let partitionKey: string | undefined;
    let payloadSize: number | undefined;
    let eventTime: bigint | undefined;
    let sequenceId: bigint | undefined;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag === PROPERTIES) {
        properties ??= [];
        properties.push(KEY_VALUE.read(reader));
      } else if (tag === PARTITION_KEY) partitionKey = reader.string();
      else if (tag === PAYLOAD_SIZE) payloadSize = reader.int32();
      else if (tag === EVENT_TIME) eventTime = reader.uint64();
      else if (tag === SEQUENCE_ID) sequenceId = reader.uint64();
      else return defined.decodeFrom(reader.rewind(start));
    }
    if (payloadSize === undefined) return defined.decodeFrom(reader.rewind(start));
    return { properties, partitionKey, payloadSize, eventTime, sequenceId };
  },

  encodeInto(writer, metadata) {
    if (
      metadata.compactedOut !== undefined ||
      metadata.partitionKeyB64Encoded !== undefined ||
      metadata.orderingKey !== undefined ||
      metadata.nullValue !== undefined ||
      metadata.nullPartitionKey !== undefined ||
      metadata.unknown !== undefined
    ) {
      defined.encodeInto(writer, metadata);
      return;
    }
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
    writer.uint32(PAYLOAD_SIZE);
    writer.int32(metadata.payloadSize);
    if (metadata.eventTime !== undefined) {
      writer.uint32(EVENT_TIME);
      writer.uint64(metadata.eventTime);
    }
    if (metadata.sequenceId !== undefined) {
      writer.uint32(SEQUENCE_ID);
      writer.uint64(metadata.sequenceId);
    }
  },
});
