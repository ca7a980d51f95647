// Connecting: options, authentication, events.
export { connect } from "./client/api/connect.ts";
export type { Client } from "./client/api/client.ts";
export type { ClientDependencies, ClientOptions } from "./client/api/client-options.ts";
export type { Authentication, Credentials } from "./client/authentication/authentication.ts";
export {
  basicAuthentication,
  tlsAuthentication,
  tokenAuthentication,
} from "./client/authentication/ready-methods.ts";
export type { Token } from "./client/authentication/ready-methods.ts";
export { oauth2Authentication } from "./client/authentication/oauth2.ts";
export type { OAuth2Options } from "./client/authentication/oauth2.ts";
export type { ThrottleNumbers, ThrottlingReason } from "./wire/throttle.ts";
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
  Ended,
  EventListener,
  Reattached,
  Resent,
  Stuck,
  Throttled,
  TimedOut,
  UnknownCommandReceived,
  Unthrottled,
} from "./client/event/client-event.ts";
export { observeWithOpenTelemetry } from "./client/event/telemetry.ts";
export type { CounterMeter } from "./client/event/telemetry.ts";

// Producers.
export type {
  CloseOptions,
  Producer,
  ProducerStats,
  SendOptions,
} from "./client/producer/producer.ts";
export type {
  AccessMode,
  PartitionOptions,
  ProducerOptions,
  Route,
} from "./client/producer/producer-options.ts";
export type { Throttling } from "./client/producer/throttle/producer-throttle.ts";
export type { BatchLimits } from "./client/producer/send/batch-builder.ts";
export type { OutgoingMessage } from "./client/producer/send/outgoing-message.ts";
export type { CompressionName } from "./compression/compression.ts";

// Consumers.
export type { Consumer, ReceiveOptions } from "./client/consumer/consumer.ts";
export type { ConsumerOptions, SubscriptionType } from "./client/consumer/consumer-options.ts";
export type { Message, MessageRef } from "./client/consumer/receive/message.ts";
export { MessageId } from "./client/message/message-id.ts";

// Errors.
export { BrokerError } from "./client/error/broker-error.ts";
export { ClosedError } from "./client/error/closed-error.ts";
export { ConnectionError } from "./client/error/connection-error.ts";
export { DeadlineError } from "./client/error/deadline-error.ts";
export { ProducerThrottledError } from "./client/error/producer-throttled-error.ts";
export type {
  ProducerThrottledDetails,
  ProducerThrottlingReason,
} from "./client/error/producer-throttled-error.ts";
export { ProtocolError } from "./wire/protocol-error.ts";
export { UnreadableMessageError } from "./client/consumer/receive/unreadable-message-error.ts";
export type { ServerErrorName } from "./wire/constants.ts";
