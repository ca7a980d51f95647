/** The reference of the flow file is whole. */
import { expect, test } from "vitest";
import { flowJsonSchema } from "../src/cli/command/schema.ts";
import { KEY_DESCRIPTIONS, keyDescription } from "../src/flow/schema/key-descriptions.ts";
import { read } from "../../../test/tree.ts";

test("docs/reference/flow-file.md has every key of a pipeline", () => {
  const text = read("docs/reference/flow-file.md");
  const { properties } = flowJsonSchema() as { properties: Record<string, unknown> };
  const missing = [...keysOf(properties["pipelines"])].filter(
    (key) => !new RegExp(`[\`.]${key}[\`.]`).test(text),
  );
  expect(missing).toEqual([]);
});

test("every key of a flow file has a description, in editors and in the reference", () => {
  const missing = [...pathsOf(flowJsonSchema())]
    .filter(({ schema }) => typeof schema["description"] !== "string")
    .map(({ path }) => path.join("."));
  expect(missing).toEqual([]);
});

test("no description is left of a key that is gone", () => {
  const used = new Set([...pathsOf(flowJsonSchema())].map(({ path }) => keyDescription(path)));
  const unused = Object.entries(KEY_DESCRIPTIONS).filter(([, text]) => !used.has(text));
  expect(unused).toEqual([]);
});

type Schema = Readonly<Record<string, unknown>>;

function* pathsOf(
  schema: unknown,
  path: readonly string[] = [],
): Generator<{ readonly path: readonly string[]; readonly schema: Schema }> {
  if (typeof schema !== "object" || schema === null) return;
  const { properties, additionalProperties, items, anyOf } = schema as Schema;
  for (const [key, value] of Object.entries((properties ?? {}) as Schema)) {
    yield { path: [...path, key], schema: value as Schema };
    yield* pathsOf(value, [...path, key]);
  }
  yield* pathsOf(additionalProperties, [...path, "NAME"]);
  yield* pathsOf(items, path);
  for (const one of (anyOf ?? []) as readonly unknown[]) yield* pathsOf(one, path);
}

function* keysOf(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  const {
    properties = {},
    additionalProperties,
    items,
    anyOf = [],
  } = schema as {
    properties?: Record<string, unknown>;
    additionalProperties?: unknown;
    items?: unknown;
    anyOf?: readonly unknown[];
  };
  for (const [key, value] of Object.entries(properties)) {
    yield key;
    yield* keysOf(value);
  }
  yield* keysOf(additionalProperties);
  yield* keysOf(items);
  for (const one of anyOf) yield* keysOf(one);
}
