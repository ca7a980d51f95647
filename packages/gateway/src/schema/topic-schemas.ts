import type { Schema } from "@sluice/pulsar/wire";
import { RefusalError } from "../refusal/refusal-error.ts";
import { DOCUMENT_BYTES_MAX } from "../storage/document/document-store.ts";
import { decodeSchema, encodeSchema } from "../storage/schema/schema-codec.ts";
import type { LoadedSchemas, SchemaStore } from "../storage/schema/schema-store.ts";
import type { StorageError } from "../storage/storage-error.ts";
import { Turns } from "../storage/turns.ts";
import { schemaHash } from "./schema-hash.ts";

export interface StoredSchema {
  readonly schema: Schema;
  /** Eight bytes, big-endian, counting from 0. */
  readonly version: Buffer;
}

/** Versions of one topic; a client that makes up a new schema for each message ends here. */
const VERSIONS_MAX = 1_000;

/** Bytes of all versions of one topic, as they are stored. */
const BYTES_MAX = 16 * 1024 * 1024;

/** Memory of a version beyond its stored bytes: objects and the hash. */
const VERSION_COST_BYTES = 1024;

/** The schemas of one topic, all of them in memory. */
export class TopicSchemas {
  readonly #topic: string;
  readonly #store: SchemaStore;
  readonly #schemas = new Map<number, StoredSchema>();
  readonly #versions = new Map<string, number>();
  readonly #damaged: Map<number, StorageError>;
  readonly #turns = new Turns();
  #nextVersion = 0;
  #bytes = 0;

  private constructor(topic: string, store: SchemaStore, { schemas, damaged }: LoadedSchemas) {
    this.#topic = topic;
    this.#store = store;
    this.#damaged = new Map(damaged);
    for (const [version, bytes] of schemas)
      this.#add(version, decodeSchema(bytes).schema, bytes.length);
    // The number of a damaged version is never given to another schema.
    this.#nextVersion = Math.max(-1, ...schemas.keys(), ...damaged.keys()) + 1;
  }

  static async load(topic: string, store: SchemaStore): Promise<TopicSchemas> {
    return new TopicSchemas(topic, store, await store.load(topic));
  }

  /** Of memory, about. */
  get costBytes(): number {
    return this.#bytes + this.#schemas.size * VERSION_COST_BYTES;
  }

  /** The version of a schema, which is added, durably, unless the topic has it. */
  put(schema: Schema): Promise<Buffer> {
    return this.#turns.run(() => this.#put(schema));
  }

  /** Removes all versions; the next schema is version 0 again. */
  delete(): Promise<void> {
    return this.#turns.run(async () => {
      await this.#store.remove(this.#topic);
      this.#schemas.clear();
      this.#versions.clear();
      this.#damaged.clear();
      this.#nextVersion = 0;
      this.#bytes = 0;
    });
  }

  /** The newest schema, or that of a version; undefined if there is none. */
  get(version?: Uint8Array): StoredSchema | undefined {
    const number = version === undefined ? this.#nextVersion - 1 : numberOf(version);
    if (number === undefined) return undefined;
    const damage = this.#damaged.get(number);
    if (damage !== undefined) throw damage;
    return this.#schemas.get(number);
  }

  async #put(schema: Schema): Promise<Buffer> {
    const known = this.#versions.get(schemaHash(schema));
    if (known !== undefined) return versionOf(known);
    const bytes = encodeSchema({ topic: this.#topic, schema });
    this.#requireRoom(bytes.length);
    const version = this.#nextVersion;
    await this.#store.save(this.#topic, version, bytes);
    // Decoded: a view of a frame would keep much more than itself alive.
    this.#add(version, decodeSchema(bytes).schema, bytes.length);
    this.#nextVersion = version + 1;
    return versionOf(version);
  }

  #requireRoom(bytes: number): void {
    if (bytes > DOCUMENT_BYTES_MAX)
      throw refused(`the schema takes ${bytes} bytes; at most ${DOCUMENT_BYTES_MAX} are stored`);
    if (this.#schemas.size >= VERSIONS_MAX)
      throw refused(`the topic has ${VERSIONS_MAX} versions; delete its schema to begin anew`);
    if (this.#bytes + bytes > BYTES_MAX)
      throw refused(`the topic's schemas take ${BYTES_MAX} bytes; delete them to begin anew`);
  }

  #add(version: number, schema: Schema, bytes: number): void {
    this.#schemas.set(version, { schema, version: versionOf(version) });
    this.#versions.set(schemaHash(schema), version);
    this.#bytes += bytes;
  }
}

function refused(what: string): RefusalError {
  return new RefusalError("IncompatibleSchema", `there is no room for another schema: ${what}`);
}

function versionOf(number: number): Buffer {
  const version = Buffer.alloc(8);
  version.writeBigUInt64BE(BigInt(number));
  return version;
}

function numberOf(version: Uint8Array): number | undefined {
  return version.length === 8 ? Number(Buffer.from(version).readBigUInt64BE()) : undefined;
}
