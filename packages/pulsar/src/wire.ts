/** The Pulsar protocol without any I/O: bytes in, frames, commands, entries and messages out. */

// Frames: bytes cut into commands, and the entries that some of them carry.
export { FrameDecoder } from "./wire/frame-decoder.ts";
export type { FrameDecoderOptions } from "./wire/frame-decoder.ts";
export {
  decodeFrame,
  encodeFrame,
  encodeFrameHead,
  encodeSendFrame,
  FRAME_PADDING_BYTES,
  MESSAGE_BYTES_MAX,
} from "./wire/frame.ts";
export type { Frame } from "./wire/frame.ts";
export { typeOf } from "./wire/command.ts";
export { requestIdOf } from "./wire/unknown-request.ts";
export type {
  Command,
  CommandBodies,
  CommandKind,
  CommandOf,
  UnknownCommand,
} from "./wire/command.ts";

// Entries: metadata, payload and checksum; batches of messages in one entry.
export {
  decodeBrokerEntryMetadata,
  decodeMetadata,
  deliverAtMsOf,
  encodeBrokerEntryHead,
  encodeEntry,
  isIntact,
  splitEntry,
} from "./wire/entry.ts";
export type { Entry } from "./wire/entry.ts";
export { BatchWriter, splitBatch } from "./wire/batch.ts";
export type { BatchedMessage } from "./wire/batch.ts";
export { crc32c } from "./wire/crc32c.ts";
export { murmur3 } from "./client/message/key-hash.ts";

// Payloads as they were before their producer compressed them.
export { compressionOfWire } from "./compression/compression.ts";
export type { Compression } from "./compression/compression.ts";
export type { Codec } from "./compression/codec.ts";

// What commands and entries are made of.
export type { MessageIdData } from "./wire/definition/message-id.ts";
export type { KeyValue } from "./wire/definition/key-value.ts";
export type { FeatureFlags } from "./wire/definition/connect.ts";
export type { Schema } from "./wire/definition/schema.ts";
export type {
  BrokerEntryMetadata,
  MessageMetadata,
  SingleMessageMetadata,
} from "./wire/definition/metadata.ts";
export {
  ACCESS_MODE,
  ACK_TYPE,
  EARLIEST_ID,
  INITIAL_POSITION,
  LATEST_ID,
  LOOKUP_RESULT,
  NO_ID,
  PARTITIONED_METADATA_RESULT,
  PROTOCOL_VERSION,
  SERVER_ERROR,
  serverErrorName,
  SUB_TYPE,
  TOPICS_MODE,
} from "./wire/constants.ts";
export type { ServerErrorName } from "./wire/constants.ts";
export { ProtocolError } from "./wire/protocol-error.ts";

// Names of topics, by which commands speak of them.
export { formatTopicName, parseTopicName } from "./topic-name.ts";
export type { TopicName } from "./topic-name.ts";
