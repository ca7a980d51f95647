/** Standard input and output, as streams in this process and as pipes of real processes. */
import { PassThrough, Writable } from "node:stream";
import { expect, test } from "vitest";
import { END, pipeline, SinkClosedError, stdinSource, stdoutSink } from "@sluice/pipeline";
import type { SourceConnector } from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import {
  messagesOf,
  neverAborted,
  readMany,
  readOnce,
  testContext,
  textsOf,
} from "./connector-context.ts";
import { sinkContract } from "./sink-contract.ts";

test("the lines of the standard input come as they are written, and then its end", async () => {
  const input = new PassThrough();
  const source = await stdinSource({ input }).open(testContext());
  input.write("1\n2\n3");
  expect(textsOf(await readOnce(source, 10, 1000))).toEqual(["1", "2"]);
  expect(await readOnce(source, 10, 0)).toEqual([]);
  const waiting = readOnce(source, 10, 10_000);
  input.end("3\n");
  expect(textsOf(await waiting)).toEqual(["33"]);
  expect(await source.read(10, { signal: neverAborted, waitMs: 10_000 })).toBe(END);
  await source.close();
});

test("the writer of the standard input waits while nothing is read", async () => {
  const input = new PassThrough({ highWaterMark: 1000 });
  const source = await stdinSource({ input }).open(testContext());
  let isWritable = true;
  for (let count = 0; count < 300 && isWritable; count++) isWritable = input.write("12345678\n");
  expect(isWritable).toBe(false);
  expect((await readMany(source, 1000, 0)).length).toBeGreaterThan(100);
  await source.close();
});

test("an aborted read of the standard input answers nothing", async () => {
  const source = await stdinSource({ input: new PassThrough() }).open(testContext());
  const controller = new AbortController();
  const read = source.read(1, { signal: controller.signal, waitMs: 60_000 });
  controller.abort();
  expect(await read).toEqual([]);
  await source.close();
});

test("a write to the standard output waits for its reader", async () => {
  const reader: (() => void)[] = [];
  const lines: string[] = [];
  const output = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      lines.push(chunk.toString());
      reader.push(done);
    },
  });
  const sink = await stdoutSink({ output }).open(testContext());
  let isWritten = false;
  const write = Promise.resolve(sink.write(messagesOf({ a: 1 }, "b"), { signal: neverAborted }));
  const written = write.then(() => (isWritten = true));
  await Promise.resolve();
  expect(isWritten).toBe(false);
  reader.pop()?.();
  await written;
  expect(lines).toEqual(['{"a":1}\nb\n']);
  await sink.close();
});

test("a reader that has gone closes the sink, and ends no process", async () => {
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
  });
  const context = testContext();
  const sink = await stdoutSink({ output }).open(context);
  for (let count = 0; count < 2; count++)
    await expect(sink.write(messagesOf(1), { signal: neverAborted })).rejects.toThrow(
      SinkClosedError,
    );
  expect(context.told).toHaveLength(1);
  await sink.close();
});

sinkContract("the standard output", () => {
  const output = new PassThrough({ highWaterMark: 1_000_000 });
  return Promise.resolve({
    connector: stdoutSink({ output }),
    received: () => Promise.resolve(String(output.read()).split("\n").slice(0, -1)),
    tearDown: () => Promise.resolve(),
  });
});

test("a pipeline whose source is idle ends as soon as the reader of its output has gone", async () => {
  const sink = new MemorySink({
    onWrite: () => {
      throw new SinkClosedError("the reader has gone");
    },
  });
  const running = await pipeline("p", { limits: { concurrency: 2 } })
    .source(new MemorySource([1], { isEndless: true }))
    .sink(sink)
    .start();
  await expect(running.done).resolves.toMatchObject({ status: "stopped", unacknowledged: 1 });
});

test("a pipeline ends without an error when the reader of its output has gone", async () => {
  const output = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
  });
  const source = new MemorySource(["a", "b"], { isEndless: true });
  const running = await pipeline("lines").source(source).sink(stdoutSink({ output })).start();
  const state = await running.done;
  expect(state.status).toBe("stopped");
  expect(state.unacknowledged).toBe(2);
});

test.each(["map", "source"])(
  "a dead-letter sink whose reader has gone ends the pipeline, and the poison message of a %s comes again",
  async (where) => {
    const deadLetter = new MemorySink({
      onWrite: () => {
        throw new SinkClosedError("the reader has gone");
      },
    });
    const memory = new MemorySource([Buffer.from(where === "map" ? "1" : "{")], {
      isEndless: true,
    });
    const source: SourceConnector = {
      kind: "memory",
      format: "json",
      open: (context) => memory.open(context),
    };
    const running = await pipeline("p", { deadLetter, retry: { attempts: 1 } })
      .source(source)
      .map(() => {
        throw new Error("no price");
      })
      .sink(new MemorySink())
      .start();
    await expect(running.done).resolves.toMatchObject({ status: "stopped", unacknowledged: 1 });
    expect(memory.givenBack).toHaveLength(1);
  },
);
