import type { SubscriptionType } from "../subscription/subscription.ts";
import type { AccessMode } from "./producer/producer-handle.ts";
import type { TrafficStats } from "./traffic.ts";

/** What a client says of itself, and where it is. */
export interface ClientFacts {
  /** "host:port". */
  readonly address: string;
  readonly clientVersion: string | undefined;
  /** What PRODUCER or SUBSCRIBE carries as metadata. */
  readonly metadata: Readonly<Record<string, string>>;
}

export interface ProducerStats {
  readonly name: string;
  /** Of its connection. */
  readonly id: bigint | undefined;
  readonly accessMode: AccessMode;
  readonly connectedAtMs: number;
  readonly client: ClientFacts | undefined;
  readonly in: TrafficStats;
}

export interface ConsumerStats {
  readonly name: string;
  readonly isActive: boolean;
  /** Messages that it may still be sent; below zero if the last entry brought more. */
  readonly availablePermits: number;
  /** Messages that it has and has not acknowledged; only shared subscriptions count. */
  readonly unackedMessages: number;
  /** True while the number of unacknowledged messages keeps entries from it. */
  readonly isBlocked: boolean;
  /** Rounded; 0 before the first entry. */
  readonly avgMessagesPerEntry: number;
  readonly connectedAtMs: number;
  readonly client: ClientFacts | undefined;
  readonly out: TrafficStats;
  readonly redeliveredMessages: number;
}

export interface SubscriptionStats {
  readonly name: string;
  readonly type: SubscriptionType;
  readonly isDurable: boolean;
  /** Of a topic with many, only some are listed; `consumerCount` counts all. */
  readonly consumers: readonly ConsumerStats[];
  readonly consumerCount: number;
  /** True while the unacknowledged messages of one consumer keep entries from it. */
  readonly isBlocked: boolean;
  /** Messages that consumers have and have not acknowledged; only shared subscriptions count. */
  readonly unackedMessages: number;
  /** Entries that are not acknowledged; Pulsar's msgBacklog counts entries too. */
  readonly backlogEntries: number;
  /** Their bytes, estimated within the segment where the backlog begins. */
  readonly backlogBytes: number;
  /** Entries of the backlog that wait for their delivery time. */
  readonly delayedEntries: number;
  /** Of an exclusive or failover subscription. */
  readonly activeConsumer: string | undefined;
  readonly out: TrafficStats;
}

export interface TopicStats {
  readonly name: string;
  /** Of a topic with many, only some are listed; `producerCount` counts all. */
  readonly producers: readonly ProducerStats[];
  readonly producerCount: number;
  readonly subscriptions: readonly SubscriptionStats[];
  /** Bytes that the log takes. */
  readonly sizeBytes: number;
  readonly in: TrafficStats;
  readonly out: TrafficStats;
  /** When this process opened the topic. */
  readonly openedAtMs: number;
  /** Undefined if nothing was published since then. */
  readonly publishedAtMs: number | undefined;
  /** Messages of a non-persistent topic that no consumer of a subscription could take. */
  readonly droppedMessages: number;
  readonly isTerminated: boolean;
  readonly isDeduplicated: boolean;
  /** Why its producers are blocked. */
  readonly blocked: "storage-full" | "backlog-quota" | undefined;
  /** Why the topic has stopped, or why a cursor could not be saved. */
  readonly failure: string | undefined;
}
