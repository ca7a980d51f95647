import type { Schema } from "@sluice/pulsar/wire";
import { RefusalError } from "../refusal/refusal-error.ts";
import { parseTopicName } from "../name/topic-name.ts";

export interface StoredSchema {
  readonly schema: Schema;
  /** Eight bytes, big-endian, counting from 0. */
  readonly version: Buffer;
}

/** Of one topic; a client that makes up a new schema for each message finds its end here. */
const VERSIONS_MAX = 1_000;
/** Of all topics together. */
const BYTES_MAX = 64 * 1024 * 1024;
/** What a schema, or a property of it, costs beyond its text, about. */
const SCHEMA_COST_BYTES = 512;
const TEXT_COST_BYTES = 64;

/**
 * The schemas of all topics, as their clients gave them. They are kept in memory only: after a
 * restart the first producer brings its schema again. Whether two versions of a topic's schema are
 * compatible is not looked at.
 */
export class SchemaRegistry {
  readonly #byTopic = new Map<string, StoredSchema[]>();
  #bytes = 0;

  /** The version of a schema, which is added unless the topic has it. */
  put(topic: string, schema: Schema): Buffer {
    const key = keyOf(topic);
    const versions = this.#byTopic.get(key) ?? [];
    const known = versions.find((stored) => isSame(stored.schema, schema));
    if (known !== undefined) return known.version;
    const bytes = sizeOf(key, schema);
    if (versions.length >= VERSIONS_MAX || this.#bytes + bytes > BYTES_MAX)
      throw new RefusalError("IncompatibleSchema", "there is no room for another schema");
    const version = Buffer.alloc(8);
    version.writeBigUInt64BE(BigInt(versions.length));
    // A view of a frame would keep much more than itself alive.
    versions.push({ schema: { ...schema, schemaData: Buffer.from(schema.schemaData) }, version });
    this.#byTopic.set(key, versions);
    this.#bytes += bytes;
    return version;
  }

  /** The newest, or the one of a version; undefined if there is none. */
  get(topic: string, version?: Uint8Array): StoredSchema | undefined {
    const versions = this.#byTopic.get(keyOf(topic));
    if (version === undefined) return versions?.at(-1);
    return versions?.find((stored) => stored.version.equals(version));
  }
}

/** Of all that is kept, about: many small ones are to find their end, too. */
function sizeOf(topic: string, { name, schemaData, properties = [] }: Schema): number {
  const texts = properties.map(({ key, value }) => key.length + value.length + TEXT_COST_BYTES);
  const own = SCHEMA_COST_BYTES + topic.length + name.length + schemaData.length;
  return texts.reduce((sum, bytes) => sum + bytes, own);
}

/** Partitions have the schema of their topic. */
function keyOf(topic: string): string {
  const { full, partition } = parseTopicName(topic);
  return partition?.of ?? full;
}

function isSame(one: Schema, other: Schema): boolean {
  return (
    one.type === other.type &&
    Buffer.compare(one.schemaData, other.schemaData) === 0 &&
    propertiesOf(one) === propertiesOf(other)
  );
}

/** In one order, whatever order they came in. */
function propertiesOf({ properties = [] }: Schema): string {
  const texts = properties.map(({ key, value }) => JSON.stringify([key, value]));
  return texts.toSorted((one, other) => (one < other ? -1 : 1)).join();
}
