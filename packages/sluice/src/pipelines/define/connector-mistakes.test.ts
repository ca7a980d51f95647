import { expect, test } from "vitest";
import { loadRunnableFlow } from "./connector-mistakes.ts";

const line = (name: string, source: string, sink: string): string => `  ${name}:
    vertices:
      - { name: in, source: { ${source} } }
      - { name: out, sink: { ${sink} } }
`;

test("options that only a connector can judge are told with their lines, all at once and before a start", async () => {
  const text = `pipelines:
${line("a", 'http: { listen: "0.0.0.0:8080" }', 'http: { url: "http://u:geheim@x/" }')}${line(
    "b",
    'http: { listen: "127.0.0.1:1", path: nopath }',
    'http: { url: "http://x/", request: { timeout: 0s } }',
  )}`;
  const told = await loadRunnableFlow(text, "flow.yaml").then(
    () => "right",
    (error: unknown) => (error as Error).message,
  );
  expect(told.split("\n")).toEqual([
    'flow.yaml:4: pipelines.a.vertices[0].source.http: listen is "0.0.0.0:8080", which other machines reach; set a token, or allowAnonymous: true',
    "flow.yaml:5: pipelines.a.vertices[1].sink.http: url has a login, which no request would send; use headers: { authorization: … }",
    'flow.yaml:8: pipelines.b.vertices[0].source.http: path is "nopath"; use a path such as "/orders"',
    "flow.yaml:9: pipelines.b.vertices[1].sink.http: request.timeoutMs is 0; it must be a number from 1 to 1000000000000",
  ]);
});

test("a file with a token that is not there is left to the start", async () => {
  const text = `pipelines:\n${line("a", "generator: {}", 'http: { url: "http://x/", tokenFile: nowhere }')}`;
  await expect(loadRunnableFlow(text, "flow.yaml")).resolves.toMatchObject({ name: "sluice" });
});
