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
    "flow.yaml:3: pipelines.b.drain is 5; expected a duration with its unit, 5s or 5ms",
    "flow.yaml:3: pipelines.b.vertices has no vertices; expected a source first and a sink last",
    "flow.yaml:4: pipelines.c.vertices[0].source.pulsar has no url, and this file has no gateway; expected url: pulsar://host:6650, or a gateway",
  ]);
});

test("all unknown keys of a map are told, and all keys that stand twice", () => {
  expect(messageOf("gatewy: {}\nstor: memory\nx: 1").split("\n")).toHaveLength(3);
  expect(messageOf("gateway: {}\ngateway: {}\nname: a\nname: b").split("\n")).toEqual([
    'flow.yaml:2: the key "gateway" stands twice in one map; expected each key once',
    'flow.yaml:4: the key "name" stands twice in one map; expected each key once',
  ]);
});

test("a wrong option of one vertex hides no mistake of the others, of their order and of their limits", () => {
  const text = `pipelines:
  a:
    limits: { rateLimit: { max: 10, min: 100, rampUpDuration: soon } }
    vertices:
      - { name: in, source: { generator: { cuont: 1 } } }
      - { name: in, map: { module: ./lost.mjs } }
      - { name: last, map: { command: cat }, limits: { rateLimit: { min: 5, max: 1 } } }`;
  expect(messageOf(text, () => false).split("\n")).toEqual([
    'flow.yaml:3: pipelines.a.limits.rateLimit.rampUpDuration is "soon"; expected a duration with its unit, such as 10s, 250ms or 1h30m',
    "flow.yaml:3: pipelines.a.limits.rateLimit.min is 100; expected at most max, 10",
    "flow.yaml:5: pipelines.a.vertices[0].source.generator.cuont is not known here; did you mean count? known keys: rate, count, values",
    'flow.yaml:6: pipelines.a.vertices[1].name is "in", which vertices[0] is called too; expected a name of its own',
    'flow.yaml:6: pipelines.a.vertices[1].map.module is "./lost.mjs", and there is no such file; expected the path of a module, from the folder of the flow file',
    'flow.yaml:7: pipelines.a.vertices[2].map.command is "cat"; expected a list of a program and its arguments, such as ["python3", "map.py"]',
    "flow.yaml:7: pipelines.a.vertices[2].map is a map in place 3 of 3; expected a sink: a source first, maps between, a sink last",
  ]);
});

test("no message shows a password", () => {
  for (const { told } of WRONG_FLOW_FILES) expect(told).not.toContain("secret");
});

function messageOf(text: string, isFile?: () => boolean): string {
  try {
    loadFlow(text, "flow.yaml", isFile);
    return "right";
  } catch (error) {
    if (error instanceof FlowFileError) return error.message;
    throw error;
  }
}
