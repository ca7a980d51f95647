/** Editors see the same flow files as right and wrong as `sluice check`, as far as a JSON schema can tell. */
import { readFileSync } from "node:fs";
import { Ajv } from "ajv";
import { parse } from "yaml";
import { expect, test } from "vitest";
import { flowJsonSchema } from "../src/cli/command/schema.ts";
import { loadFlow } from "../src/flow/flow-file.ts";
import { filesIn, read } from "../../../test/tree.ts";
import { WRONG_FLOW_FILES } from "./wrong-flow-files.ts";

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(flowJsonSchema());

/** Blocks of YAML in the documentation that are whole flow files. */
const documented = filesIn()
  .filter((file) => file.endsWith(".md") && !file.startsWith("node_modules"))
  .flatMap((file) =>
    [...read(file).matchAll(/```yaml\n(.*?)```/gs)].map(([, text = ""]) => ({ file, text })),
  )
  .filter(({ text }) => /^(?:gateway|pipelines):/m.test(text));

test("the flow file of the quickstart is right", () => {
  const file = new URL("../../../examples/quickstart/sluice.yaml", import.meta.url);
  expectRight(readFileSync(file, "utf8"));
});

test("there are flow files in the documentation", () => {
  expect(documented.length).toBeGreaterThan(2);
});

test.each(documented)("a flow file of $file is right", ({ text }) => {
  expectRight(text);
});

/** Mistakes between two keys, and of texts that only a parser knows, are left to `sluice check`. */
const BEYOND_A_SCHEMA = new Set([
  "no YAML",
  "two documents",
  "a key that stands twice",
  "a name that no key can have",
  "a name that no key of a store can have",
  "a store with two servers",
  "administration for other machines without a token",
  "a gateway for other machines without a token",
  "one port for the gateway and its administration",
  "one port for two sources",
  "a shared limit without a store",
  "no pipeline at all",
  "a pipeline of one vertex",
  "a sink first",
  "a source in the middle",
  "a source last",
  "two vertices of one name",
  "a vertex that is nothing",
  "a vertex that is two things",
  "a Pulsar source without a broker",
  "a topic that is none",
  "a Kafka broker without a port",
  "an HTTP source without an address",
  "a cost of a rate that is not there",
  "a map of nothing",
  "a map of two things",
  "threads of a command",
  "a rateLimit without max",
  "a min above the inherited max",
  "two modes of a ramp",
  "replicas beside a store",
  "replicas and maxMembers",
  "a lease without a store",
  "a lease that is too short",
  "a store in a block beside the store of the file",
]);

test.each(WRONG_FLOW_FILES.filter(({ kind }) => !BEYOND_A_SCHEMA.has(kind)))(
  "$kind is wrong in an editor too",
  ({ text }) => {
    expect(validate(parse(text) ?? {})).toBe(false);
  },
);

test("every key of pipelines has a description", () => {
  const { properties } = flowJsonSchema() as { properties: Record<string, unknown> };
  const missing: string[] = [];
  walk(properties["pipelines"], "pipelines", missing);
  expect(missing).toEqual([]);
});

/** Keys whose names say enough, within a described map. */
const PLAIN =
  /\.(?:user|passwordFile|sasl|tls|retry|fleet|topic|rule|format|mechanism|username|ca|cert|key|\w+Percentage|coolDownPeriod)$/;

function walk(schema: unknown, path: string, missing: string[]): void {
  if (typeof schema !== "object" || schema === null) return;
  const {
    properties = {},
    additionalProperties,
    items,
    anyOf,
  } = schema as {
    properties?: Record<string, { description?: string }>;
    additionalProperties?: unknown;
    items?: unknown;
    anyOf?: readonly unknown[];
  };
  for (const [key, value] of Object.entries(properties)) {
    const at = `${path}.${key}`;
    if (value.description === undefined && !PLAIN.test(at)) missing.push(at);
    walk(value, at, missing);
  }
  walk(additionalProperties, path, missing);
  walk(items, path, missing);
  for (const one of anyOf ?? []) walk(one, path, missing);
}

function expectRight(text: string): void {
  expect(() => loadFlow(text, "flow.yaml")).not.toThrow();
  expect([validate(parse(text)), validate.errors]).toEqual([true, null]);
}
