/** What a consumer sends and hears. */
import {
  bool,
  double,
  int32,
  int64,
  message,
  optional,
  repeated,
  required,
  string,
  uint32,
  uint64,
} from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";
import { INT_RANGE, KEY_LONG_VALUE, KEY_VALUE } from "./key-value.ts";
import type { IntRange, KeyLongValue, KeyValue } from "./key-value.ts";
import { MESSAGE_ID } from "./message-id.ts";
import type { MessageIdData } from "./message-id.ts";
import { SCHEMA } from "./schema.ts";
import type { Schema } from "./schema.ts";

interface KeySharedMeta extends WithUnknown {
  readonly keySharedMode: number;
  readonly hashRanges?: readonly IntRange[] | undefined;
  readonly allowOutOfOrderDelivery?: boolean | undefined;
}

const KEY_SHARED_META: MessageType<KeySharedMeta> = message("KeySharedMeta", {
  keySharedMode: required(1, int32),
  hashRanges: repeated(3, INT_RANGE),
  allowOutOfOrderDelivery: optional(4, bool),
});

export interface CommandSubscribe extends WithUnknown {
  readonly topic: string;
  readonly subscription: string;
  readonly subType: number;
  readonly consumerId: bigint;
  readonly requestId: bigint;
  readonly consumerName?: string | undefined;
  readonly priorityLevel?: number | undefined;
  /** True if absent. */
  readonly durable?: boolean | undefined;
  readonly startMessageId?: MessageIdData | undefined;
  readonly metadata?: readonly KeyValue[] | undefined;
  readonly readCompacted?: boolean | undefined;
  readonly schema?: Schema | undefined;
  readonly initialPosition?: number | undefined;
  readonly replicateSubscriptionState?: boolean | undefined;
  /** True if absent. */
  readonly forceTopicCreation?: boolean | undefined;
  readonly startMessageRollbackDurationSec?: bigint | undefined;
  readonly keySharedMeta?: KeySharedMeta | undefined;
  readonly subscriptionProperties?: readonly KeyValue[] | undefined;
  readonly consumerEpoch?: bigint | undefined;
}

export const SUBSCRIBE: MessageType<CommandSubscribe> = message("CommandSubscribe", {
  topic: required(1, string),
  subscription: required(2, string),
  subType: required(3, int32),
  consumerId: required(4, uint64),
  requestId: required(5, uint64),
  consumerName: optional(6, string),
  priorityLevel: optional(7, int32),
  durable: optional(8, bool),
  startMessageId: optional(9, MESSAGE_ID),
  metadata: repeated(10, KEY_VALUE),
  readCompacted: optional(11, bool),
  schema: optional(12, SCHEMA),
  initialPosition: optional(13, int32),
  replicateSubscriptionState: optional(14, bool),
  forceTopicCreation: optional(15, bool),
  startMessageRollbackDurationSec: optional(16, uint64),
  keySharedMeta: optional(17, KEY_SHARED_META),
  subscriptionProperties: repeated(18, KEY_VALUE),
  consumerEpoch: optional(19, uint64),
});

/** Announces an entry: its bytes follow in the same frame. */
export interface CommandMessage extends WithUnknown {
  readonly consumerId: bigint;
  readonly messageId: MessageIdData;
  readonly redeliveryCount?: number | undefined;
  /** As in `MessageIdData`. */
  readonly ackSet?: readonly bigint[] | undefined;
  readonly consumerEpoch?: bigint | undefined;
}

export const MESSAGE: MessageType<CommandMessage> = message("CommandMessage", {
  consumerId: required(1, uint64),
  messageId: required(2, MESSAGE_ID),
  redeliveryCount: optional(3, uint32),
  ackSet: repeated(4, int64),
  consumerEpoch: optional(5, uint64),
});

export interface CommandAck extends WithUnknown {
  readonly consumerId: bigint;
  readonly ackType: number;
  readonly messageIds?: readonly MessageIdData[] | undefined;
  readonly validationError?: number | undefined;
  readonly properties?: readonly KeyLongValue[] | undefined;
  readonly txnidLeastBits?: bigint | undefined;
  readonly txnidMostBits?: bigint | undefined;
  /** With it, and only with it, the broker answers. */
  readonly requestId?: bigint | undefined;
}

export const ACK: MessageType<CommandAck> = message("CommandAck", {
  consumerId: required(1, uint64),
  ackType: required(2, int32),
  messageIds: repeated(3, MESSAGE_ID),
  validationError: optional(4, int32),
  properties: repeated(5, KEY_LONG_VALUE),
  txnidLeastBits: optional(6, uint64),
  txnidMostBits: optional(7, uint64),
  requestId: optional(8, uint64),
});

export interface CommandAckResponse extends WithUnknown {
  readonly consumerId: bigint;
  readonly txnidLeastBits?: bigint | undefined;
  readonly txnidMostBits?: bigint | undefined;
  readonly error?: number | undefined;
  readonly message?: string | undefined;
  readonly requestId?: bigint | undefined;
}

export const ACK_RESPONSE: MessageType<CommandAckResponse> = message("CommandAckResponse", {
  consumerId: required(1, uint64),
  txnidLeastBits: optional(2, uint64),
  txnidMostBits: optional(3, uint64),
  error: optional(4, int32),
  message: optional(5, string),
  requestId: optional(6, uint64),
});

export interface CommandFlow extends WithUnknown {
  readonly consumerId: bigint;
  /** Messages, not entries. */
  readonly messagePermits: number;
}

export const FLOW: MessageType<CommandFlow> = message("CommandFlow", {
  consumerId: required(1, uint64),
  messagePermits: required(2, uint32),
});

export interface CommandUnsubscribe extends WithUnknown {
  readonly consumerId: bigint;
  readonly requestId: bigint;
  readonly force?: boolean | undefined;
}

export const UNSUBSCRIBE: MessageType<CommandUnsubscribe> = message("CommandUnsubscribe", {
  consumerId: required(1, uint64),
  requestId: required(2, uint64),
  force: optional(3, bool),
});

export interface CommandSeek extends WithUnknown {
  readonly consumerId: bigint;
  readonly requestId: bigint;
  readonly messageId?: MessageIdData | undefined;
  readonly messagePublishTime?: bigint | undefined;
}

export const SEEK: MessageType<CommandSeek> = message("CommandSeek", {
  consumerId: required(1, uint64),
  requestId: required(2, uint64),
  messageId: optional(3, MESSAGE_ID),
  messagePublishTime: optional(4, uint64),
});

export interface CommandRedeliverUnacknowledgedMessages extends WithUnknown {
  readonly consumerId: bigint;
  /** Without any: all that the consumer has not acknowledged. */
  readonly messageIds?: readonly MessageIdData[] | undefined;
  readonly consumerEpoch?: bigint | undefined;
}

export const REDELIVER_UNACKNOWLEDGED: MessageType<CommandRedeliverUnacknowledgedMessages> =
  message("CommandRedeliverUnacknowledgedMessages", {
    consumerId: required(1, uint64),
    messageIds: repeated(2, MESSAGE_ID),
    consumerEpoch: optional(3, uint64),
  });

export interface CommandGetLastMessageId extends WithUnknown {
  readonly consumerId: bigint;
  readonly requestId: bigint;
}

export const GET_LAST_MESSAGE_ID: MessageType<CommandGetLastMessageId> = message(
  "CommandGetLastMessageId",
  {
    consumerId: required(1, uint64),
    requestId: required(2, uint64),
  },
);

export interface CommandGetLastMessageIdResponse extends WithUnknown {
  readonly lastMessageId: MessageIdData;
  readonly requestId: bigint;
  readonly consumerMarkDeletePosition?: MessageIdData | undefined;
}

export const GET_LAST_MESSAGE_ID_RESPONSE: MessageType<CommandGetLastMessageIdResponse> = message(
  "CommandGetLastMessageIdResponse",
  {
    lastMessageId: required(1, MESSAGE_ID),
    requestId: required(2, uint64),
    consumerMarkDeletePosition: optional(3, MESSAGE_ID),
  },
);

export interface CommandCloseConsumer extends WithUnknown {
  readonly consumerId: bigint;
  readonly requestId: bigint;
  readonly assignedBrokerServiceUrl?: string | undefined;
  readonly assignedBrokerServiceUrlTls?: string | undefined;
}

export const CLOSE_CONSUMER: MessageType<CommandCloseConsumer> = message("CommandCloseConsumer", {
  consumerId: required(1, uint64),
  requestId: required(2, uint64),
  assignedBrokerServiceUrl: optional(3, string),
  assignedBrokerServiceUrlTls: optional(4, string),
});

export interface CommandReachedEndOfTopic extends WithUnknown {
  readonly consumerId: bigint;
}

export const REACHED_END_OF_TOPIC: MessageType<CommandReachedEndOfTopic> = message(
  "CommandReachedEndOfTopic",
  {
    consumerId: required(1, uint64),
  },
);

export interface CommandActiveConsumerChange extends WithUnknown {
  readonly consumerId: bigint;
  readonly isActive?: boolean | undefined;
}

export const ACTIVE_CONSUMER_CHANGE: MessageType<CommandActiveConsumerChange> = message(
  "CommandActiveConsumerChange",
  {
    consumerId: required(1, uint64),
    isActive: optional(2, bool),
  },
);

export interface CommandConsumerStats extends WithUnknown {
  readonly requestId: bigint;
  readonly consumerId: bigint;
}

export const CONSUMER_STATS: MessageType<CommandConsumerStats> = message("CommandConsumerStats", {
  requestId: required(1, uint64),
  consumerId: required(4, uint64),
});

/** Rates are per second. */
export interface CommandConsumerStatsResponse extends WithUnknown {
  readonly requestId: bigint;
  readonly errorCode?: number | undefined;
  readonly errorMessage?: string | undefined;
  readonly msgRateOut?: number | undefined;
  /** Bytes. */
  readonly msgThroughputOut?: number | undefined;
  readonly msgRateRedeliver?: number | undefined;
  readonly consumerName?: string | undefined;
  readonly availablePermits?: bigint | undefined;
  readonly unackedMessages?: bigint | undefined;
  readonly blockedConsumerOnUnackedMsgs?: boolean | undefined;
  readonly address?: string | undefined;
  readonly connectedSince?: string | undefined;
  readonly type?: string | undefined;
  readonly msgRateExpired?: number | undefined;
  readonly msgBacklog?: bigint | undefined;
  readonly messageAckRate?: number | undefined;
}

export const CONSUMER_STATS_RESPONSE: MessageType<CommandConsumerStatsResponse> = message(
  "CommandConsumerStatsResponse",
  {
    requestId: required(1, uint64),
    errorCode: optional(2, int32),
    errorMessage: optional(3, string),
    msgRateOut: optional(4, double),
    msgThroughputOut: optional(5, double),
    msgRateRedeliver: optional(6, double),
    consumerName: optional(7, string),
    availablePermits: optional(8, uint64),
    unackedMessages: optional(9, uint64),
    blockedConsumerOnUnackedMsgs: optional(10, bool),
    address: optional(11, string),
    connectedSince: optional(12, string),
    type: optional(13, string),
    msgRateExpired: optional(14, double),
    msgBacklog: optional(15, uint64),
    messageAckRate: optional(16, double),
  },
);

export interface CommandTopicMigrated extends WithUnknown {
  readonly resourceId: bigint;
  readonly resourceType: number;
  readonly brokerServiceUrl?: string | undefined;
  readonly brokerServiceUrlTls?: string | undefined;
}

export const TOPIC_MIGRATED: MessageType<CommandTopicMigrated> = message("CommandTopicMigrated", {
  resourceId: required(1, uint64),
  resourceType: required(2, int32),
  brokerServiceUrl: optional(3, string),
  brokerServiceUrlTls: optional(4, string),
});
