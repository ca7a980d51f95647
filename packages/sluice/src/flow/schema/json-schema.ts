import { ALTERNATIVES, JSON_SCHEMA } from "@sluice/lab/file";
import type { JsonSchema } from "@sluice/lab/file";
import type * as v from "valibot";

/** What is read of a schema; valibot's own types differ for each kind. */
interface AnySchema {
  readonly kind: string;
  readonly type: string;
  readonly pipe?: readonly AnySchema[];
  readonly entries?: Readonly<Record<string, AnySchema>>;
  readonly wrapped?: AnySchema;
  readonly default?: unknown;
  readonly item?: AnySchema;
  readonly key?: AnySchema;
  readonly value?: AnySchema;
  readonly literal?: unknown;
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/**
 * The JSON schema of a schema of this repository, for editors. It accepts everything that the check accepts, and
 * refuses unknown and missing keys, wrong types and words; what contradicts another key only the check finds.
 */
export function jsonSchemaOf(schema: v.GenericSchema<unknown, unknown>): JsonSchema {
  return convert(schema);
}

function convert(schema: AnySchema): JsonSchema {
  return schema.pipe === undefined ? convertPlain(schema) : convertPipe(schema.pipe);
}

/** The first is the schema; descriptions, metadata and further schemas follow. */
function convertPipe([first, ...actions]: readonly AnySchema[]): JsonSchema {
  let result: JsonSchema = first === undefined ? {} : convert(first);
  for (const action of actions) {
    if (action.kind === "schema") result = { ...result, ...convert(action) };
    if (action.type === "description") result = { ...result, description: action.description };
    if (action.type === "metadata")
      result = { ...result, ...convertMetadata(action.metadata ?? {}) };
  }
  return result;
}

function convertMetadata(metadata: Readonly<Record<string, unknown>>): JsonSchema {
  const alternatives = metadata[ALTERNATIVES] as readonly AnySchema[] | undefined;
  if (alternatives !== undefined) return { anyOf: alternatives.map(convert) };
  return (metadata[JSON_SCHEMA] as JsonSchema | undefined) ?? {};
}

function convertPlain(schema: AnySchema): JsonSchema {
  switch (schema.type) {
    case "strict_object":
      return convertMap(schema.entries ?? {});
    case "optional":
      return {
        ...(schema.wrapped && convert(schema.wrapped)),
        ...(isPlain(schema.default) && { default: schema.default }),
      };
    case "array":
      return { type: "array", items: schema.item === undefined ? {} : convert(schema.item) };
    case "record":
      return {
        type: "object",
        ...(schema.key && { propertyNames: convert(schema.key) }),
        additionalProperties: schema.value === undefined ? {} : convert(schema.value),
      };
    case "literal":
      return { const: schema.literal };
    case "string":
      return { type: "string" };
    default:
      // Checks of our own say in their metadata what they accept.
      return {};
  }
}

function convertMap(entries: Readonly<Record<string, AnySchema>>): JsonSchema {
  const required = Object.entries(entries)
    .filter(([, entry]) => entry.type !== "optional")
    .map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(
      Object.entries(entries).map(([key, entry]) => [key, convert(entry)]),
    ),
    additionalProperties: false,
    ...(required.length > 0 && { required }),
  };
}

/** A default of one word or number; larger ones would only repeat the keys below. */
function isPlain(value: unknown): boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}
