/** Commands from and to producers. */
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
  uint64,
  writtenOut,
} from "../message.ts";
import { sendCodec } from "../hot/send.ts";
import { sendReceiptCodec } from "../hot/send-receipt.ts";
import type { MessageType, WithUnknown } from "../message.ts";
import { KEY_VALUE } from "./key-value.ts";
import type { KeyValue } from "./key-value.ts";
import { MESSAGE_ID } from "./message-id.ts";
import type { MessageIdData } from "./message-id.ts";
import { SCHEMA } from "./schema.ts";
import type { Schema } from "./schema.ts";

export interface CommandProducer extends WithUnknown {
  readonly topic: string;
  readonly producerId: bigint;
  readonly requestId: bigint;
  readonly producerName?: string | undefined;
  readonly encrypted?: boolean | undefined;
  readonly metadata?: readonly KeyValue[] | undefined;
  readonly schema?: Schema | undefined;
  readonly epoch?: bigint | undefined;
  /** Default: true. */
  readonly userProvidedProducerName?: boolean | undefined;
  readonly producerAccessMode?: number | undefined;
  readonly topicEpoch?: bigint | undefined;
  readonly txnEnabled?: boolean | undefined;
  readonly initialSubscriptionName?: string | undefined;
}

export const PRODUCER: MessageType<CommandProducer> = message("CommandProducer", {
  topic: required(1, string),
  producerId: required(2, uint64),
  requestId: required(3, uint64),
  producerName: optional(4, string),
  encrypted: optional(5, bool),
  metadata: repeated(6, KEY_VALUE),
  schema: optional(7, SCHEMA),
  epoch: optional(8, uint64),
  userProvidedProducerName: optional(9, bool),
  producerAccessMode: optional(10, int32),
  topicEpoch: optional(11, uint64),
  txnEnabled: optional(12, bool),
  initialSubscriptionName: optional(13, string),
});

export interface CommandProducerSuccess extends WithUnknown {
  readonly requestId: bigint;
  readonly producerName: string;
  /** Default: -1. */
  readonly lastSequenceId?: bigint | undefined;
  readonly schemaVersion?: Uint8Array | undefined;
  readonly topicEpoch?: bigint | undefined;
  /** Default: true. False: the producer waits for exclusive access, and another answer follows. */
  readonly producerReady?: boolean | undefined;
}

export const PRODUCER_SUCCESS: MessageType<CommandProducerSuccess> = message(
  "CommandProducerSuccess",
  {
    requestId: required(1, uint64),
    producerName: required(2, string),
    lastSequenceId: optional(3, int64),
    schemaVersion: optional(4, bytes),
    topicEpoch: optional(5, uint64),
    producerReady: optional(6, bool),
  },
);

/** The entry follows in the same frame. */
export interface CommandSend extends WithUnknown {
  readonly producerId: bigint;
  readonly sequenceId: bigint;
  /** Default: 1. */
  readonly numMessages?: number | undefined;
  readonly txnidLeastBits?: bigint | undefined;
  readonly txnidMostBits?: bigint | undefined;
  readonly highestSequenceId?: bigint | undefined;
  readonly isChunk?: boolean | undefined;
  readonly marker?: boolean | undefined;
  readonly messageId?: MessageIdData | undefined;
}

export const SEND: MessageType<CommandSend> = writtenOut(
  message("CommandSend", {
    producerId: required(1, uint64),
    sequenceId: required(2, uint64),
    numMessages: optional(3, int32),
    txnidLeastBits: optional(4, uint64),
    txnidMostBits: optional(5, uint64),
    highestSequenceId: optional(6, uint64),
    isChunk: optional(7, bool),
    marker: optional(8, bool),
    messageId: optional(9, MESSAGE_ID),
  }),
  sendCodec,
);

export interface CommandSendReceipt extends WithUnknown {
  readonly producerId: bigint;
  readonly sequenceId: bigint;
  readonly messageId?: MessageIdData | undefined;
  readonly highestSequenceId?: bigint | undefined;
}

export const SEND_RECEIPT: MessageType<CommandSendReceipt> = writtenOut(
  message("CommandSendReceipt", {
    producerId: required(1, uint64),
    sequenceId: required(2, uint64),
    messageId: optional(3, MESSAGE_ID),
    highestSequenceId: optional(4, uint64),
  }),
  sendReceiptCodec,
);

export interface CommandSendError extends WithUnknown {
  readonly producerId: bigint;
  readonly sequenceId: bigint;
  readonly error: number;
  readonly message: string;
}

export const SEND_ERROR: MessageType<CommandSendError> = message("CommandSendError", {
  producerId: required(1, uint64),
  sequenceId: required(2, uint64),
  error: required(3, int32),
  message: required(4, string),
});

export interface CommandCloseProducer extends WithUnknown {
  readonly producerId: bigint;
  readonly requestId: bigint;
  readonly assignedBrokerServiceUrl?: string | undefined;
  readonly assignedBrokerServiceUrlTls?: string | undefined;
}

export const CLOSE_PRODUCER: MessageType<CommandCloseProducer> = message("CommandCloseProducer", {
  producerId: required(1, uint64),
  requestId: required(2, uint64),
  assignedBrokerServiceUrl: optional(3, string),
  assignedBrokerServiceUrlTls: optional(4, string),
});
