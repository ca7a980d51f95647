/** The metadata of an entry, and of each message in a batch. */
import {
  bool,
  bytes,
  int32,
  int64,
  message,
  optional,
  repeated,
  required,
  string,
  uint32,
  uint64,
  writtenOut,
} from "../message.ts";
import { metadataCodec } from "../hot/message-metadata.ts";
import { singleMetadataCodec } from "../hot/single-message-metadata.ts";
import type { MessageType, WithUnknown } from "../message.ts";
import { KEY_VALUE } from "./key-value.ts";
import type { KeyValue } from "./key-value.ts";

interface EncryptionKeys extends WithUnknown {
  readonly key: string;
  readonly value: Uint8Array;
  readonly metadata?: readonly KeyValue[] | undefined;
}

const ENCRYPTION_KEYS: MessageType<EncryptionKeys> = message("EncryptionKeys", {
  key: required(1, string),
  value: required(2, bytes),
  metadata: repeated(3, KEY_VALUE),
});

export interface MessageMetadata extends WithUnknown {
  readonly producerName: string;
  readonly sequenceId: bigint;
  /** In ms since 1970. */
  readonly publishTime: bigint;
  readonly properties?: readonly KeyValue[] | undefined;
  readonly replicatedFrom?: string | undefined;
  readonly partitionKey?: string | undefined;
  readonly replicateTo?: readonly string[] | undefined;
  readonly compression?: number | undefined;
  readonly uncompressedSize?: number | undefined;
  /** If set, the entry is a batch, even with the value 1. */
  readonly numMessagesInBatch?: number | undefined;
  readonly eventTime?: bigint | undefined;
  readonly encryptionKeys?: readonly EncryptionKeys[] | undefined;
  readonly encryptionAlgo?: string | undefined;
  readonly encryptionParam?: Uint8Array | undefined;
  readonly schemaVersion?: Uint8Array | undefined;
  readonly partitionKeyB64Encoded?: boolean | undefined;
  readonly orderingKey?: Uint8Array | undefined;
  readonly deliverAtTime?: bigint | undefined;
  readonly markerType?: number | undefined;
  readonly txnidLeastBits?: bigint | undefined;
  readonly txnidMostBits?: bigint | undefined;
  readonly highestSequenceId?: bigint | undefined;
  readonly nullValue?: boolean | undefined;
  readonly uuid?: string | undefined;
  readonly numChunksFromMsg?: number | undefined;
  readonly totalChunkMsgSize?: number | undefined;
  readonly chunkId?: number | undefined;
  readonly nullPartitionKey?: boolean | undefined;
}

export const MESSAGE_METADATA: MessageType<MessageMetadata> = writtenOut(
  message("MessageMetadata", {
    producerName: required(1, string),
    sequenceId: required(2, uint64),
    publishTime: required(3, uint64),
    properties: repeated(4, KEY_VALUE),
    replicatedFrom: optional(5, string),
    partitionKey: optional(6, string),
    replicateTo: repeated(7, string),
    compression: optional(8, int32),
    uncompressedSize: optional(9, uint32),
    numMessagesInBatch: optional(11, int32),
    eventTime: optional(12, uint64),
    encryptionKeys: repeated(13, ENCRYPTION_KEYS),
    encryptionAlgo: optional(14, string),
    encryptionParam: optional(15, bytes),
    schemaVersion: optional(16, bytes),
    partitionKeyB64Encoded: optional(17, bool),
    orderingKey: optional(18, bytes),
    deliverAtTime: optional(19, int64),
    markerType: optional(20, int32),
    txnidLeastBits: optional(22, uint64),
    txnidMostBits: optional(23, uint64),
    highestSequenceId: optional(24, uint64),
    nullValue: optional(25, bool),
    uuid: optional(26, string),
    numChunksFromMsg: optional(27, int32),
    totalChunkMsgSize: optional(28, int32),
    chunkId: optional(29, int32),
    nullPartitionKey: optional(30, bool),
  }),
  metadataCodec,
);

export interface SingleMessageMetadata extends WithUnknown {
  readonly properties?: readonly KeyValue[] | undefined;
  readonly partitionKey?: string | undefined;
  readonly payloadSize: number;
  readonly compactedOut?: boolean | undefined;
  readonly eventTime?: bigint | undefined;
  readonly partitionKeyB64Encoded?: boolean | undefined;
  readonly orderingKey?: Uint8Array | undefined;
  readonly sequenceId?: bigint | undefined;
  readonly nullValue?: boolean | undefined;
  readonly nullPartitionKey?: boolean | undefined;
}

export const SINGLE_MESSAGE_METADATA: MessageType<SingleMessageMetadata> = writtenOut(
  message("SingleMessageMetadata", {
    properties: repeated(1, KEY_VALUE),
    partitionKey: optional(2, string),
    payloadSize: required(3, int32),
    compactedOut: optional(4, bool),
    eventTime: optional(5, uint64),
    partitionKeyB64Encoded: optional(6, bool),
    orderingKey: optional(7, bytes),
    sequenceId: optional(8, uint64),
    nullValue: optional(9, bool),
    nullPartitionKey: optional(10, bool),
  }),
  singleMetadataCodec,
);

export interface BrokerEntryMetadata extends WithUnknown {
  readonly brokerTimestamp?: bigint | undefined;
  readonly index?: bigint | undefined;
}

export const BROKER_ENTRY_METADATA: MessageType<BrokerEntryMetadata> = message(
  "BrokerEntryMetadata",
  {
    brokerTimestamp: optional(1, uint64),
    index: optional(2, uint64),
  },
);
