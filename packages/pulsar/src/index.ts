// A client: connect, and what it is told on the way.
export { connect } from "./client/api/connect.ts";
export type { Client } from "./client/api/client.ts";
export type { ClientOptions, World } from "./client/api/client-options.ts";
export type { Token } from "./client/api/authentication.ts";
export type { TlsOptions } from "./client/connection/socket-transport.ts";
export type {
  Dial,
  Endpoint,
  Transport,
  TransportListener,
} from "./client/connection/transport.ts";
export type {
  AttachmentRole,
  ClientEvent,
  Connected,
  Detached,
  Discarded,
  Disconnected,
  EventListener,
  Reattached,
  Resent,
} from "./client/api/event.ts";

// Producers.
export type { Producer, SendOptions } from "./client/producer/producer.ts";
export type {
  AccessMode,
  PartitionOptions,
  ProducerOptions,
  Route,
} from "./client/producer/producer-options.ts";
export type { BatchLimits } from "./client/producer/batch-builder.ts";
export type { OutgoingMessage } from "./client/producer/outgoing-message.ts";
export type { CompressionName } from "./compression/compression.ts";

// Consumers.
export type { Consumer, ReceiveOptions } from "./client/consumer/consumer.ts";
export type { ConsumerOptions, SubscriptionType } from "./client/consumer/consumer-options.ts";
export type { Message, MessageRef } from "./client/consumer/message.ts";
export { MessageId } from "./client/message/message-id.ts";

// What can go wrong.
export { BrokerError } from "./client/error/broker-error.ts";
export { ClosedError } from "./client/error/closed-error.ts";
export { ConnectionError } from "./client/error/connection-error.ts";
export { DeadlineError } from "./client/error/deadline-error.ts";
export { ProtocolError } from "./wire/protocol-error.ts";
export { UnreadableMessageError } from "./client/consumer/unreadable-message-error.ts";
export type { ServerErrorName } from "./wire/constants.ts";
