import type { Schema } from "@sluice/pulsar/wire";
import { RefusalError } from "../refusal/refusal-error.ts";
import { StorageError } from "../storage/storage-error.ts";
import type { SchemaStore } from "../storage/schema/schema-store.ts";
import { parseTopicName } from "../name/topic-name.ts";
import { TopicSchemas } from "./topic-schemas.ts";
import type { StoredSchema } from "./topic-schemas.ts";

export type { StoredSchema };

/** Topics that may have a schema: twice as many as topics, since a schema may outlive its topic. */
const TOPICS_MAX = 20_000;

/** Memory of the schemas that are loaded; beyond it those of the topic used longest ago go. */
const CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Memory of a topic beyond its schemas. */
const TOPIC_COST_BYTES = 2048;

interface Loaded {
  readonly loading: Promise<TopicSchemas>;
  /** Calls that use it now. While there is one it stays: loaded twice, it would give a version twice. */
  users: number;
  costBytes: number;
}

/**
 * The schemas of all topics, as their clients gave them. The version that a client is told is
 * durable before the answer and means the same schema for ever, unless the schemas of the topic are
 * deleted. Whether two versions are compatible is not checked.
 */
export class SchemaRegistry {
  readonly #store: SchemaStore;
  readonly #cacheBytesMax: number;
  /** In the order of their last use. */
  readonly #topics = new Map<string, Loaded>();
  #cacheBytes = 0;

  constructor(
    store: SchemaStore,
    { cacheBytesMax = CACHE_BYTES_MAX }: { readonly cacheBytesMax?: number } = {},
  ) {
    this.#store = store;
    this.#cacheBytesMax = cacheBytesMax;
  }

  /** The version of a schema, which is added unless the topic has it. Durable once it resolves. */
  async put(topic: string, schema: Schema): Promise<Buffer> {
    const key = keyOf(topic);
    if (!this.#store.has(key) && this.#store.topicCount >= TOPICS_MAX)
      throw new RefusalError(
        "IncompatibleSchema",
        `there is no room for another schema: ${TOPICS_MAX} topics have one`,
      );
    return this.#use(key, (schemas) => schemas.put(schema));
  }

  /** The newest schema, or that of a version; undefined if there is none. */
  async get(topic: string, version?: Uint8Array): Promise<StoredSchema | undefined> {
    const key = keyOf(topic);
    if (!this.#store.has(key)) return undefined;
    return this.#use(key, (schemas) => schemas.get(version));
  }

  /** Removes all versions; the next schema is version 0 again. Partitions share those of their topic. */
  async delete(topic: string): Promise<void> {
    const key = keyOf(topic);
    if (this.#store.has(key)) await this.#use(key, (schemas) => schemas.delete());
  }

  async #use<T>(key: string, use: (schemas: TopicSchemas) => T | Promise<T>): Promise<T> {
    const loaded = this.#topics.get(key) ?? {
      loading: TopicSchemas.load(key, this.#store),
      users: 0,
      costBytes: 0,
    };
    // The last in the order of use.
    this.#topics.delete(key);
    this.#topics.set(key, loaded);
    loaded.users++;
    try {
      const schemas = await loaded.loading;
      const result = await use(schemas);
      this.#account(loaded, schemas.costBytes + TOPIC_COST_BYTES);
      return result;
    } catch (error) {
      // What could not be loaded now, e.g. for lack of descriptors, is tried again.
      if (loaded.costBytes === 0 && this.#topics.get(key) === loaded) this.#topics.delete(key);
      throw refusalOf(error);
    } finally {
      loaded.users--;
      this.#evict();
    }
  }

  #account(loaded: Loaded, costBytes: number): void {
    this.#cacheBytes += costBytes - loaded.costBytes;
    loaded.costBytes = costBytes;
  }

  /** Those used longest ago go while there are too many bytes. */
  #evict(): void {
    for (const [key, loaded] of this.#topics) {
      if (this.#cacheBytes <= this.#cacheBytesMax) return;
      if (loaded.users > 0) continue;
      this.#topics.delete(key);
      this.#cacheBytes -= loaded.costBytes;
    }
  }
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof StorageError)) return error;
  const message = `the schemas of the topic cannot be used: ${error.kind}`;
  return new RefusalError("PersistenceError", message, { cause: error });
}

/** Partitions have the schema of their topic. */
function keyOf(topic: string): string {
  const { full, partition } = parseTopicName(topic);
  return partition?.of ?? full;
}
