/** Pulsar's binary protocol without I/O: frames, commands, entries and batches, decoded and encoded. */

// Frames: one command each, and for some commands an entry.
export { FrameDecoder } from "./wire/frame-decoder.ts";
export type { FrameDecoderOptions } from "./wire/frame-decoder.ts";
export {
  decodeFrame,
  decodeFrameBy,
  encodeFrame,
  encodeFrameBeforeTail,
  encodeFrameBy,
  encodeFrameHead,
  encodeSendFrame,
  FRAME_PADDING_BYTES,
  MESSAGE_BYTES_MAX,
} from "./wire/frame.ts";
export type { Frame } from "./wire/frame.ts";
export { COMMANDS, CommandTable, PULSAR_COMMANDS, typeOf } from "./wire/command.ts";
export { requestIdOf } from "./wire/unknown-request.ts";
export type {
  Command,
  CommandBodies,
  CommandDefinition,
  CommandIn,
  CommandKind,
  CommandOf,
  UnknownCommand,
} from "./wire/command.ts";

// PIP-385: telling a producer to pause.
export {
  THROTTLE_NUMBERS,
  ThrottleCodec,
  THROTTLING_REASON,
  throttlingReasonOf,
} from "./wire/throttle.ts";
export type { ThrottleCommand, ThrottleNumbers, ThrottlingReason } from "./wire/throttle.ts";

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

// The parts of commands and entries.
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

// Topic names.
export { formatTopicName, parseTopicName, partitionTopicName } from "./topic-name.ts";
export type { TopicName } from "./topic-name.ts";

// Service URLs: the addresses of a cluster.
export { parseServiceUrl } from "./service-url.ts";
export type { ServiceAddress, ServiceUrl } from "./service-url.ts";
