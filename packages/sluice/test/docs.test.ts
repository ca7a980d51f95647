/** The reference of the flow file and of the metrics is whole. */
import { expect, test } from "vitest";
import { flowJsonSchema } from "../src/cli/command/schema.ts";
import { filesIn, read } from "../../../test/tree.ts";

test("docs/flow-file.md has every key of a pipeline", () => {
  const text = read("docs/flow-file.md");
  const { properties } = flowJsonSchema() as { properties: Record<string, unknown> };
  const missing = [...keysOf(properties["pipelines"])].filter(
    (key) => !new RegExp(`[\`.]${key}[\`.]`).test(text),
  );
  expect(missing).toEqual([]);
});

test("docs/metrics.md has every metric, and no other", () => {
  const sources = [
    ...filesIn("packages/gateway/src/admin/observe/"),
    ...filesIn("packages/sluice/src/pipelines/"),
  ].filter((file) => /metrics\.ts$|gate-meters\.ts$/.test(file));
  const NAME =
    /["`]((?:sluice|pulsar|forwarder|vertex|adaptive_concurrency|process)_[a-z_]+|desired_replicas)["`]/g;
  const made = new Set(sources.flatMap((file) => matches(read(file), NAME)));
  // A label, not a metric.
  made.delete("vertex_type");
  const documented = new Set(matches(read("docs/metrics.md"), NAME));
  documented.delete("vertex_type");
  expect([...documented].toSorted()).toEqual([...made].toSorted());
});

function matches(text: string, pattern: RegExp): readonly string[] {
  return [...text.matchAll(pattern)].map(([, name = ""]) => name);
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
