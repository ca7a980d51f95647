/** `sluice run` with the connectors and maps of a flow file, in a chain: what goes in comes out at the end. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NEEDS_REDIS, redisPath, RedisServer } from "../../fleet/test/redis-server.ts";
import { freePort } from "./free-port.ts";
import { runFlow, until } from "./run-flow.ts";

const COUNT = 300;

test.skipIf(redisPath === undefined)(
  `messages go from a file through threads, Redis, a program, HTTP and Pulsar to a file, all once${NEEDS_REDIS}`,
  async () => {
    const redis = await RedisServer.start();
    onTestFinished(() => redis.stop());
    const http = `127.0.0.1:${await freePort()}`;
    const { folder, log } = await runFlow(
      `
gateway: { listen: "pulsar://127.0.0.1:0", upstream: embedded, data: memory }
admin: { listen: 127.0.0.1:0 }
pipelines:
  first:
    vertices:
      - { name: in, source: { file: { path: in.ndjson, follow: true } } }
      - { name: double, map: { module: ./double.mjs, threads: 2, settings: { factor: 2 } } }
      - { name: out, sink: { redis: { url: "${redis.url}", stream: numbers } } }
  second:
    vertices:
      - { name: in, source: { redis: { url: "${redis.url}", stream: numbers, group: g } } }
      - { name: mark, map: { command: ["${process.execPath}", mark.mjs], env: { MARK: "yes" } } }
      - { name: out, sink: { http: { url: "http://${http}/", batch: { messages: 50 } } } }
  third:
    vertices:
      - { name: in, source: { http: { listen: "${http}" } } }
      - { name: out, sink: { pulsar: { topic: numbers } } }
  fourth:
    vertices:
      - { name: in, source: { pulsar: { topic: numbers, subscription: s, initialPosition: earliest } } }
      - { name: out, sink: { file: { path: out.ndjson } } }
`,
      {
        "in.ndjson": Array.from({ length: COUNT }, (_, n) => `{"n":${n}}\n`).join(""),
        "double.mjs":
          "export default ({ value }, { settings }) => ({ value: { n: value.n * settings.factor } });",
        "mark.mjs": `import { createInterface } from "node:readline";
for await (const line of createInterface({ input: process.stdin })) {
  const { id, value } = JSON.parse(line);
  console.log(JSON.stringify({ id, outputs: [{ value: { ...value, mark: process.env.MARK } }] }));
}
`,
      },
    );
    const out = (): readonly string[] => linesOf(join(folder, "out.ndjson"));
    await until(
      () => out().length >= COUNT,
      () => log.join("\n"),
    );
    const expected = Array.from({ length: COUNT }, (_, n) => `{"n":${2 * n},"mark":"yes"}`);
    expect(out().toSorted()).toEqual(expected.toSorted());
    expect(log.filter((line) => line.includes('"event":"error"'))).toEqual([]);
  },
);

function linesOf(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").split("\n").slice(0, -1);
  } catch {
    // Not there before the first message.
    return [];
  }
}
