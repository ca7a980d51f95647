/** The reference of the flow file is whole. */
import { expect, test } from "vitest";
import { flowJsonSchema } from "../src/cli/command/schema.ts";
import { read } from "../../../test/tree.ts";

test("docs/flow-file.md has every key of a pipeline", () => {
  const text = read("docs/flow-file.md");
  const { properties } = flowJsonSchema() as { properties: Record<string, unknown> };
  const missing = [...keysOf(properties["pipelines"])].filter(
    (key) => !new RegExp(`[\`.]${key}[\`.]`).test(text),
  );
  expect(missing).toEqual([]);
});

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
