import type { SluiceError } from "@sluice/core";
import type { ProducerThrottlingReason } from "../error/producer-throttled-error.ts";
import type { MessageId } from "../message/message-id.ts";

interface EventTime {
  /** By the client's monotonic timer. */
  readonly atMs: number;
}

/** A connection is open and its handshake is done. */
export interface Connected extends EventTime {
  readonly type: "connected";
  /** `host:port`; through a proxy, `host:port for broker:port`. */
  readonly address: string;
  readonly serverVersion: string;
}

/** A connection was lost or closed. */
export interface Disconnected extends EventTime {
  readonly type: "disconnected";
  readonly address: string;
  readonly reason: SluiceError;
}

/** A producer or consumer has no broker; the next attempt to attach follows after `pauseMs`. */
export interface Detached extends EventTime {
  readonly type: "detached";
  readonly role: AttachmentRole;
  readonly topic: string;
  readonly reason: SluiceError;
  readonly pauseMs: number;
}

/** A producer or consumer that was detached has a broker again. */
export interface Reattached extends EventTime {
  readonly type: "reattached";
  readonly role: AttachmentRole;
  readonly topic: string;
  readonly address: string;
}

/** A producer or consumer ended without `close`: the broker refused it for good. */
export interface Ended extends EventTime {
  readonly type: "ended";
  readonly role: AttachmentRole;
  readonly topic: string;
  readonly reason: SluiceError;
}

/** A producer sent again the messages that had no receipt when its connection was lost. */
export interface Resent extends EventTime {
  readonly type: "resent";
  readonly topic: string;
  readonly messages: number;
}

/** The oldest message of a producer has had no receipt for 5 s. Told once until the next receipt. */
export interface Stuck extends EventTime {
  readonly type: "stuck";
  /** With the partition, if the topic has partitions. */
  readonly topic: string;
  /** Messages without a receipt. */
  readonly messages: number;
  /** Since the oldest one's `send`. */
  readonly waitedMs: number;
}

/** The send timeout passed: all pending messages of a topic or partition failed. */
export interface TimedOut extends EventTime {
  readonly type: "timedOut";
  readonly topic: string;
  readonly messages: number;
  readonly sendTimeoutMs: number;
}

/**
 * A consumer discarded a corrupt entry: it is not what its producer sent. The broker is told by an
 * ACK with a validation error, and does not deliver the entry again.
 */
export interface Discarded extends EventTime {
  readonly type: "discarded";
  readonly topic: string;
  readonly messageId: MessageId;
  readonly reason: SluiceError;
}

/**
 * The broker limits a producer (PIP-385). One `Unthrottled` follows each: a command that extends a pause
 * ends the pause before it.
 */
export interface Throttled extends EventTime {
  readonly type: "throttled";
  /** With the partition, if the topic has partitions. */
  readonly topic: string;
  readonly reason: ProducerThrottlingReason;
  /** Length of the pause; 0 if the broker has stopped reading and only says why. */
  readonly pauseMs: number;
}

/** A pause is over, replaced by the next, ended early by the broker, or lost with the connection. */
export interface Unthrottled extends EventTime {
  readonly type: "unthrottled";
  readonly topic: string;
  readonly reason: ProducerThrottlingReason;
  /** The real length. For pause 0: until the next receipt, at most 1 s. */
  readonly throttledMs: number;
}

/** A broker sent a command that this client does not know, and ignores. Told once per type and connection. */
export interface UnknownCommandReceived extends EventTime {
  readonly type: "unknownCommand";
  readonly address: string;
  /** The command's number in Pulsar's `BaseCommand.Type`. */
  readonly commandType: number;
}

export type AttachmentRole = "producer" | "consumer";

/** Everything that happens in a client beside the results of its calls. */
export type ClientEvent =
  | Connected
  | Disconnected
  | Detached
  | Reattached
  | Ended
  | Resent
  | Stuck
  | TimedOut
  | Throttled
  | Unthrottled
  | Discarded
  | UnknownCommandReceived;

/** Called for every event. An error that it throws is ignored. */
export type EventListener = (event: ClientEvent) => void;
