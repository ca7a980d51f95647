import type { Schema } from "@sluice/pulsar/wire";
import type { StoredSchema } from "../../../schema/topic-schemas.ts";
import { HttpError } from "../../http/http-error.ts";
import { objectOf, shown } from "../../http/request.ts";

/** Names of the types in REST; each stands at its number on the wire. */
const TYPE_NAMES = [
  "NONE",
  "STRING",
  "JSON",
  "PROTOBUF",
  "AVRO",
  "BOOLEAN",
  "INT8",
  "INT16",
  "INT32",
  "INT64",
  "FLOAT",
  "DOUBLE",
  "DATE",
  "TIME",
  "TIMESTAMP",
  "KEY_VALUE",
  "INSTANT",
  "LOCAL_DATE",
  "LOCAL_TIME",
  "LOCAL_DATE_TIME",
  "PROTOBUF_NATIVE",
  "AUTO_CONSUME",
] as const;

const KEY_VALUE = TYPE_NAMES.indexOf("KEY_VALUE");

/** Characters of a schema's text that a request may bring. */
const SCHEMA_LENGTH_MAX = 512 * 1024;

/** A stored schema as REST has it. When it was stored is not kept. */
export function schemaJson({ schema, version }: StoredSchema): object {
  const { type, schemaData, properties = [] } = schema;
  return {
    version: versionOf(version),
    type: TYPE_NAMES[type] ?? "NONE",
    timestamp: 0,
    data: type === KEY_VALUE ? keyValueText(schemaData) : Buffer.from(schemaData).toString("utf8"),
    properties: Object.fromEntries(properties.map(({ key, value }) => [key, value])),
  };
}

/** The eight bytes of a version as a number. */
export function versionOf(version: Buffer): number {
  return Number(version.readBigInt64BE());
}

export function versionBytes(version: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64BE(BigInt(version));
  return bytes;
}

/** The schema that a request brings: `{ type, schema, properties }`. */
export function schemaFrom(body: unknown): Schema {
  const { type, schema = "", properties } = objectOf("the body", body);
  const wireType = TYPE_NAMES.findIndex((name) => name === type);
  if (wireType < 0 || wireType === KEY_VALUE)
    throw new HttpError(422, `type is ${shown(type)}; schemas of this type are not taken here`);
  if (typeof schema !== "string" || schema.length > SCHEMA_LENGTH_MAX)
    throw new HttpError(422, `schema must be a text of at most ${SCHEMA_LENGTH_MAX} characters`);
  const entries = Object.entries(objectOf("properties", properties ?? {}));
  return {
    name: "",
    type: wireType,
    schemaData: Buffer.from(schema),
    properties: entries.map(([key, value]) => ({ key, value: String(value) })),
  };
}

/** Both schemas of a KEY_VALUE, which are stored with their lengths in front, as one JSON text. */
function keyValueText(bytes: Uint8Array): string {
  const data = Buffer.from(bytes);
  const [key, afterKey] = sizedText(data, 0);
  const [value] = sizedText(data, afterKey);
  return JSON.stringify({ key: jsonOrText(key), value: jsonOrText(value) });
}

function sizedText(data: Buffer, at: number): readonly [string, number] {
  if (at + 4 > data.length) return ["", data.length];
  const start = at + 4;
  const end = start + Math.max(0, data.readInt32BE(at));
  return [data.toString("utf8", start, end), Math.min(end, data.length)];
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
