import { createHash } from "node:crypto";
import type { Schema } from "@sluice/pulsar/wire";

/**
 * Equal for equal schemas: type, bytes and properties, whatever order the properties came in. The
 * name is not part of a schema, as in Pulsar.
 */
export function schemaHash({ type, schemaData, properties = [] }: Schema): string {
  const texts = properties.map(({ key, value }) => JSON.stringify([key, value]));
  texts.sort((one, other) => (one < other ? -1 : 1));
  return createHash("sha256")
    .update(JSON.stringify([type, schemaData.length]))
    .update(schemaData)
    .update(texts.join())
    .digest("base64");
}
