import { ConfigError } from "@sluice/core";
import { expect, test } from "vitest";
import { FlowFileError, loadFlow } from "../src/flow/flow-file.ts";
import { WRONG_FLOW_FILES } from "./wrong-flow-files.ts";

test.each(WRONG_FLOW_FILES)(
  "$kind is refused with its line and what is expected",
  ({ text, told }) => {
    expect(messageOf(text)).toBe(told);
  },
);

test("there are at least 40 kinds of mistakes, and every message names its line and a way out", () => {
  expect(new Set(WRONG_FLOW_FILES.map(({ told }) => told)).size).toBeGreaterThanOrEqual(40);
  for (const { told } of WRONG_FLOW_FILES)
    expect(told).toMatch(
      /^flow\.yaml:\d+: .*(?:expected|known keys:|keep one|add |not valid YAML: |stands twice|remove )/,
    );
});

test("mistakes of several pipelines are told together, in the order of their lines", () => {
  const text = `pipelines:
  a: { vertices: [{ name: in, source: { stdin: {} } }] }
  b: { vertices: [], drain: 5 }
  c: { vertices: [{ name: in, source: { pulsar: { topic: t, subscription: s } } }, { name: out, sink: { stdout: {} } }] }`;
  expect(messageOf(text).split("\n")).toEqual([
    "flow.yaml:2: pipelines.a.vertices has 1 vertex; expected a source first and a sink last",
    "flow.yaml:3: pipelines.b.drain is 5; expected a duration with its unit, such as 10s, 250ms or 1h30m",
    "flow.yaml:3: pipelines.b.vertices has no vertices; expected a source first and a sink last",
    "flow.yaml:4: pipelines.c.vertices[0].source.pulsar has no url, and this file has no gateway; expected url: pulsar://host:6650, or a gateway",
  ]);
});

test("no message shows a password", () => {
  for (const { told } of WRONG_FLOW_FILES) expect(told).not.toContain("secret");
});

function messageOf(text: string): string {
  try {
    loadFlow(text, "flow.yaml");
    return "right";
  } catch (error) {
    if (error instanceof FlowFileError || error instanceof ConfigError) return error.message;
    throw error;
  }
}
