import type { Position } from "../storage/position.ts";
import type { StoredEntry } from "../storage/log/topic-log.ts";
import type { SeekPoint } from "../topic/consumer-handle.ts";

/**
 * What an administrator can ask of a broker and do to it. `topic` is any form of a topic's name; what
 * is refused rejects with a `RefusalError`. The HTTP paths of Pulsar's admin API stand on this.
 */
export interface BrokerAdministration {
  /** Full names of "tenant/namespace", partitions one by one. */
  topicsOf(namespace: string): readonly string[];
  /** Full names of the partitioned topics of a namespace, and the number of partitions of each. */
  partitionedTopicsOf(namespace: string): ReadonlyMap<string, number>;
  /** "tenant/namespace" of all topics. */
  namespaces(): readonly string[];
  hasTopic(topic: string): boolean;
  partitionsOf(topic: string): number;
  createTopic(topic: string): Promise<void>;
  createPartitionedTopic(topic: string, partitions: number): Promise<void>;
  /** Only more; durable subscriptions of partition 0 are copied to the new ones. */
  growPartitions(topic: string, partitions: number): Promise<void>;
  deleteTopic(topic: string, options?: { readonly force?: boolean }): Promise<void>;
  /** Closes its producers, consumers and files; clients come back and open it again. */
  unloadTopic(topic: string): Promise<void>;
  /** Nothing is published to it any more; answers the last position. */
  terminateTopic(topic: string): Promise<Position | undefined>;
  subscriptionsOf(topic: string): Promise<readonly string[]>;
  createSubscription(topic: string, subscription: string, start: SeekPoint): Promise<void>;
  deleteSubscription(
    topic: string,
    subscription: string,
    options?: { readonly force?: boolean },
  ): Promise<void>;
  /** Skips messages of the backlog; "all" skips all of it. */
  skip(topic: string, subscription: string, messages: number | "all"): Promise<void>;
  resetSubscription(topic: string, subscription: string, to: SeekPoint): Promise<void>;
  /** Messages older than this count as acknowledged. */
  expireMessages(topic: string, subscription: string, olderThanMs: number): Promise<void>;
  entryAt(topic: string, position: Position): Promise<StoredEntry | undefined>;
  /** The entry that many messages into the backlog of a subscription, from 1. */
  peek(topic: string, subscription: string, place: number): Promise<StoredEntry | undefined>;
  /** The entry at a place counted from 1, from the first entry on or from the last one back. */
  examine(
    topic: string,
    from: "earliest" | "latest",
    place: number,
  ): Promise<StoredEntry | undefined>;
  lastEntry(topic: string): Promise<StoredEntry | undefined>;
  positionAtTime(topic: string, atMs: number): Promise<Position>;
}
