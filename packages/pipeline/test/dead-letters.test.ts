import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { httpSink } from "../src/connector/http/sink/http-sink.ts";
import { fileSink } from "../src/connector/file/file-sink.ts";
import { generator } from "../src/connector/generator/generator.ts";
import { blackhole } from "../src/connector/blackhole/blackhole.ts";
import { stdoutSink } from "../src/connector/stdio/stdout-sink.ts";
import type { SinkConnector } from "../src/connector/sink.ts";
import { pipeline } from "../src/build/pipeline-builder.ts";
import { startService } from "./loopback-service.ts";

const undo: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const each of undo.splice(0)) await each();
});

/** Runs messages through a map that takes none of them. */
async function refuseAll(values: readonly unknown[], deadLetter: SinkConnector): Promise<void> {
  await pipeline("orders", { deadLetter, retry: { attempts: 2, backoffMs: 1 } })
    .source(generator({ values }))
    .map(() => Promise.reject(new Error("no price\nfor tea")), { name: "price" })
    .sink(blackhole())
    .run();
}

const ABOUT = { error: "no price for tea", vertex: "price", attempts: 2 };

test("a dead letter in a file has the message, the error, the vertex and the attempts", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-letters-"));
  undo.push(() => rm(folder, { recursive: true }));
  const path = join(folder, "dead.ndjson");
  await refuseAll([{ item: "tea" }, "two\nlines", Buffer.from([1, 255]), 7n], fileSink({ path }));
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { ...ABOUT, id: expect.any(String) as string, headers: {}, value: { item: "tea" } },
    { ...ABOUT, id: expect.any(String) as string, headers: {}, value: "two\nlines" },
    { ...ABOUT, id: expect.any(String) as string, headers: {}, valueBase64: "Af8=" },
    { ...ABOUT, id: expect.any(String) as string, headers: {}, valueText: "7n" },
  ]);
});

test("a dead letter on the standard output is the same line", async () => {
  const output = new PassThrough();
  await refuseAll([1], stdoutSink({ output }));
  output.end();
  expect(JSON.parse(await text(output))).toMatchObject({ ...ABOUT, value: 1 });
});

test.each([
  ["alone", {}, (body: string) => JSON.parse(body) as unknown],
  [
    "in a batch",
    { batch: { format: "json" } },
    (body: string) => (JSON.parse(body) as unknown[])[0],
  ],
] as const)(
  "a dead letter to an HTTP service, %s, has them in its body",
  async (_, options, read) => {
    const service = await startService();
    undo.push(() => service.close());
    await refuseAll([{ item: "tea" }], httpSink({ url: service.url, ...options }));
    expect(service.requests.map(({ body }) => read(body))).toMatchObject([
      { ...ABOUT, value: { item: "tea" } },
    ]);
  },
);
