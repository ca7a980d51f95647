/** Lookup of topics, partitions and brokers. */
import {
  bool,
  int32,
  message,
  optional,
  repeated,
  required,
  string,
  uint32,
  uint64,
} from "../message.ts";
import type { MessageType, WithUnknown } from "../message.ts";
import { KEY_VALUE } from "./key-value.ts";
import type { KeyValue } from "./key-value.ts";

export interface CommandPartitionedTopicMetadata extends WithUnknown {
  readonly topic: string;
  readonly requestId: bigint;
  readonly originalPrincipal?: string | undefined;
  readonly originalAuthData?: string | undefined;
  readonly originalAuthMethod?: string | undefined;
  /** Default: true. */
  readonly metadataAutoCreationEnabled?: boolean | undefined;
}

export const PARTITIONED_METADATA: MessageType<CommandPartitionedTopicMetadata> = message(
  "CommandPartitionedTopicMetadata",
  {
    topic: required(1, string),
    requestId: required(2, uint64),
    originalPrincipal: optional(3, string),
    originalAuthData: optional(4, string),
    originalAuthMethod: optional(5, string),
    metadataAutoCreationEnabled: optional(6, bool),
  },
);

export interface CommandPartitionedTopicMetadataResponse extends WithUnknown {
  /** 0 for a topic without partitions. */
  readonly partitions?: number | undefined;
  readonly requestId: bigint;
  readonly response?: number | undefined;
  readonly error?: number | undefined;
  readonly message?: string | undefined;
}

export const PARTITIONED_METADATA_RESPONSE: MessageType<CommandPartitionedTopicMetadataResponse> =
  message("CommandPartitionedTopicMetadataResponse", {
    partitions: optional(1, uint32),
    requestId: required(2, uint64),
    response: optional(3, int32),
    error: optional(4, int32),
    message: optional(5, string),
  });

export interface CommandLookupTopic extends WithUnknown {
  readonly topic: string;
  readonly requestId: bigint;
  readonly authoritative?: boolean | undefined;
  readonly originalPrincipal?: string | undefined;
  readonly originalAuthData?: string | undefined;
  readonly originalAuthMethod?: string | undefined;
  readonly advertisedListenerName?: string | undefined;
  readonly properties?: readonly KeyValue[] | undefined;
}

export const LOOKUP: MessageType<CommandLookupTopic> = message("CommandLookupTopic", {
  topic: required(1, string),
  requestId: required(2, uint64),
  authoritative: optional(3, bool),
  originalPrincipal: optional(4, string),
  originalAuthData: optional(5, string),
  originalAuthMethod: optional(6, string),
  advertisedListenerName: optional(7, string),
  properties: repeated(8, KEY_VALUE),
});

export interface CommandLookupTopicResponse extends WithUnknown {
  readonly brokerServiceUrl?: string | undefined;
  readonly brokerServiceUrlTls?: string | undefined;
  readonly response?: number | undefined;
  readonly requestId: bigint;
  readonly authoritative?: boolean | undefined;
  readonly error?: number | undefined;
  readonly message?: string | undefined;
  readonly proxyThroughServiceUrl?: boolean | undefined;
}

export const LOOKUP_RESPONSE: MessageType<CommandLookupTopicResponse> = message(
  "CommandLookupTopicResponse",
  {
    brokerServiceUrl: optional(1, string),
    brokerServiceUrlTls: optional(2, string),
    response: optional(3, int32),
    requestId: required(4, uint64),
    authoritative: optional(5, bool),
    error: optional(6, int32),
    message: optional(7, string),
    proxyThroughServiceUrl: optional(8, bool),
  },
);

export interface CommandGetTopicsOfNamespace extends WithUnknown {
  readonly requestId: bigint;
  readonly namespace: string;
  readonly mode?: number | undefined;
  readonly topicsPattern?: string | undefined;
  readonly topicsHash?: string | undefined;
  readonly properties?: readonly KeyValue[] | undefined;
}

export const GET_TOPICS_OF_NAMESPACE: MessageType<CommandGetTopicsOfNamespace> = message(
  "CommandGetTopicsOfNamespace",
  {
    requestId: required(1, uint64),
    namespace: required(2, string),
    mode: optional(3, int32),
    topicsPattern: optional(4, string),
    topicsHash: optional(5, string),
    properties: repeated(6, KEY_VALUE),
  },
);

export interface CommandGetTopicsOfNamespaceResponse extends WithUnknown {
  readonly requestId: bigint;
  readonly topics?: readonly string[] | undefined;
  readonly filtered?: boolean | undefined;
  readonly topicsHash?: string | undefined;
  /** Default: true. */
  readonly changed?: boolean | undefined;
}

export const GET_TOPICS_OF_NAMESPACE_RESPONSE: MessageType<CommandGetTopicsOfNamespaceResponse> =
  message("CommandGetTopicsOfNamespaceResponse", {
    requestId: required(1, uint64),
    topics: repeated(2, string),
    filtered: optional(3, bool),
    topicsHash: optional(4, string),
    changed: optional(5, bool),
  });
