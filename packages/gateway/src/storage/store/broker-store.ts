import { requireWhole } from "@sluice/core/internal";
import type { DocumentStore } from "../document/document-store.ts";
import type { SchemaStore } from "../schema/schema-store.ts";
import type { TopicLog } from "../log/topic-log.ts";

/** One topic while it is open. */
export interface StoredTopic {
  readonly log: TopicLog;
  readonly cursors: DocumentStore;
  /** Waits for what has begun, then closes log and cursors. */
  close(): Promise<void>;
}

/** All that a broker keeps: topics with their cursors, numbers of partitions, and other documents. */
export interface BrokerStore {
  /** Of the broker itself, e.g. policies. The store closes them. */
  readonly documents: DocumentStore;

  /** Of topics, also of those that store nothing else. The store closes them. */
  readonly schemas: SchemaStore;

  /** Names of the topics that are stored, partitions included, in no order. */
  topics(): readonly string[];

  /** Opens a topic; makes it if it is not there. It must not be open already. */
  openTopic(name: string): Promise<StoredTopic>;

  /** Removes a topic with all its entries and cursors. It must not be open. */
  removeTopic(name: string): Promise<void>;

  /** Partitioned topics, and the number of partitions of each. */
  partitionCounts(): ReadonlyMap<string, number>;

  /** Resolves once it is durable. */
  savePartitionCount(topic: string, count: number): Promise<void>;

  removePartitionCount(topic: string): Promise<void>;

  /** Closes topics that are still open, then gives the folder up. */
  close(): Promise<void>;
}

/** Most partitions of one topic. */
const PARTITIONS_MAX = 1_000_000;

export function requirePartitionCount(count: number): void {
  requireWhole("the number of partitions", count, 1, PARTITIONS_MAX);
}
