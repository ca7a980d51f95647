import type { Position } from "../storage/position.ts";
import type { StoredEntry } from "../storage/log/topic-log.ts";
import type { SeekPoint } from "../topic/consumer/consumer-handle.ts";
import type { TopicStats } from "../topic/topic-stats.ts";
import type { TopicDomain } from "./topic-index.ts";

/**
 * What an administrator can ask of a broker and do to it. `topic` is any form of a topic's name; what
 * is refused rejects with a `RefusalError`. The HTTP paths of Pulsar's admin API stand on this.
 */
export interface BrokerAdministration {
  /** Full names of "tenant/namespace" in order, partitions one by one. The array never changes. */
  topicsOf(namespace: string, domain?: TopicDomain): readonly string[];
  /** Full names of the partitioned topics of a namespace, and the number of partitions of each. */
  partitionedTopicsOf(namespace: string): ReadonlyMap<string, number>;
  /** "tenant/namespace" of all topics. */
  namespaces(): readonly string[];
  hasTopic(topic: string): boolean;
  partitionsOf(topic: string): number;
  /**
   * Opens the topic if it is not open. A partitioned topic has the stats of its partitions only.
   * Asked in several turns of the event loop. `listedMax`: producers and consumers that are listed one
   * by one, 0 unless given.
   */
  statsOf(topic: string, listedMax?: number): Promise<TopicStats>;
  /** Of the topics that are open, asked in several turns; `listedMax` is for all of them together. */
  openTopicStats(listedMax?: number): Promise<readonly TopicStats[]>;
  createTopic(topic: string): Promise<void>;
  createPartitionedTopic(topic: string, partitions: number): Promise<void>;
  /** Only more; durable subscriptions of partition 0 are copied to the new ones. */
  growPartitions(topic: string, partitions: number): Promise<void>;
  /** With all partitions, entries and subscriptions. Refused while it is used, unless by force. */
  deleteTopic(topic: string, options?: { readonly force?: boolean }): Promise<void>;
  /** Closes producers, consumers and files of a topic or of all partitions; clients open it again. */
  unloadTopic(topic: string): Promise<void>;
  /** Nothing is published to it any more; answers the last position. */
  terminateTopic(topic: string): Promise<Position | undefined>;
  /**
   * What concerns one subscription is done in all partitions of a partitioned topic, except for what
   * names a position or a number of entries: that is refused there.
   */
  subscriptionsOf(topic: string): Promise<readonly string[]>;
  createSubscription(topic: string, subscription: string, start: SeekPoint): Promise<void>;
  deleteSubscription(
    topic: string,
    subscription: string,
    options?: { readonly force?: boolean },
  ): Promise<void>;
  /** Skips entries of the backlog, as Pulsar counts them; "all" skips all of it. */
  skip(topic: string, subscription: string, entries: number | "all"): Promise<void>;
  resetSubscription(topic: string, subscription: string, to: SeekPoint): Promise<void>;
  /** Messages older than this count as acknowledged. */
  expireMessages(topic: string, subscription: string, olderThanMs: number): Promise<void>;
  entryAt(topic: string, position: Position): Promise<StoredEntry | undefined>;
  /** An entry of the backlog of a subscription; the first has place 1. */
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
