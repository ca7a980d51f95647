import type { StorageError } from "../storage-error.ts";

export interface LoadedSchemas {
  /** By version, from 0. */
  readonly schemas: ReadonlyMap<number, Uint8Array>;
  /** By version, those whose stored bytes do not match their checksum. */
  readonly damaged: ReadonlyMap<number, StorageError>;
}

/**
 * The schemas of topics by version, in bytes that only the caller understands. A version is written
 * once: the number that a client was told means the same schema for ever.
 */
export interface SchemaStore {
  /** Number of topics that have a schema. */
  readonly topicCount: number;

  /** Whether a topic has a schema. */
  has(topic: string): boolean;

  load(topic: string): Promise<LoadedSchemas>;

  /** Resolves once the version is durable. */
  save(topic: string, version: number, bytes: Uint8Array): Promise<void>;

  /** Removes all versions of a topic, in one step: a crash leaves all of them or none. */
  remove(topic: string): Promise<void>;

  /** Waits for what has begun. Calls after it reject. */
  close(): Promise<void>;
}
