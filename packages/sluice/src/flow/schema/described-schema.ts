import type { JsonSchema } from "@sluice/lab/file";
import { keyDescription } from "./key-descriptions.ts";

/** The schema with a description at every key: its own, else that of the table of keys. */
export function describedSchema(schema: JsonSchema, path: readonly string[] = []): JsonSchema {
  const { properties, additionalProperties, items, anyOf } = schema;
  return {
    ...schema,
    ...(isMap(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, value]) => [
          key,
          describedKey(value, [...path, key]),
        ]),
      ),
    }),
    ...(isMap(additionalProperties) && {
      additionalProperties: describedSchema(additionalProperties, [...path, "NAME"]),
    }),
    ...(isMap(items) && { items: describedSchema(items, path) }),
    ...(Array.isArray(anyOf) && {
      anyOf: anyOf.map((one: unknown) => (isMap(one) ? describedSchema(one, path) : one)),
    }),
  };
}

function describedKey(schema: unknown, path: readonly string[]): unknown {
  if (!isMap(schema)) return schema;
  const description = schema["description"] ?? keyDescription(path);
  const inner = describedSchema(schema, path);
  return description === undefined ? inner : { ...inner, description };
}

function isMap(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
