import type { Schema } from "@sluice/pulsar/wire";
import { StorageError } from "../storage-error.ts";

/** A schema as it is stored, with the topic that it belongs to, for readers of the files. */
export interface StoredSchemaFile {
  readonly topic: string;
  readonly schema: Schema;
}

interface Header {
  readonly topic: string;
  readonly name: string;
  readonly type: number;
  readonly properties: readonly (readonly [string, string])[];
}

/** Length of the header (4 bytes, highest first), the header in JSON, the schema's own bytes. */
export function encodeSchema({ topic, schema }: StoredSchemaFile): Buffer {
  const { name, type, schemaData, properties = [] } = schema;
  const header: Header = {
    topic,
    name,
    type,
    properties: properties.map(({ key, value }) => [key, value]),
  };
  const json = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(json.length);
  return Buffer.concat([length, json, schemaData]);
}

/** Throws a `StorageError` unless the bytes are what `encodeSchema` makes. */
export function decodeSchema(bytes: Uint8Array): StoredSchemaFile {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const end = 4 + buffer.readUInt32BE(0);
    const { topic, name, type, properties } = JSON.parse(buffer.toString("utf8", 4, end)) as Header;
    const schema = {
      name,
      type,
      schemaData: Buffer.from(buffer.subarray(end)),
      properties: properties.map(([key, value]) => ({ key, value })),
    };
    return { topic, schema };
  } catch (cause) {
    throw new StorageError("damaged", "a stored schema cannot be decoded", { cause });
  }
}
