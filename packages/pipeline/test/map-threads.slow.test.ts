import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { VirtualTimer } from "@sluice/core/testing";
import { generator, pipeline } from "@sluice/pipeline";
import { MemorySink } from "@sluice/pipeline/testing";
import { expect, test } from "vitest";
import { mapThreads } from "../src/map/threads/map-threads.ts";
import type { MapThreadsOptions } from "../src/map/threads/map-threads.ts";
import { connectorScene, messageOf, until } from "./connector-scene.ts";
import { failure, mapperScenes } from "./mapper-scene.ts";
import type { MapperScene } from "./mapper-scene.ts";

const EACH = new URL("maps/map-each.mjs", import.meta.url);
const BATCH = new URL("maps/map-batch.mjs", import.meta.url);
const open = mapperScenes();

const scene = (options: Partial<MapThreadsOptions> = {}): Promise<MapperScene> =>
  open(mapThreads({ module: EACH, threads: 2, ...options }));

test("outputs come in the order of their messages: one, several, none, bytes", async () => {
  const { map } = await scene({ settings: { tax: 7 } });
  expect(
    await map({ do: "double", n: 21 }, "drop", "two", { do: "bytes", text: "tea" }, "settings"),
  ).toEqual([
    [{ value: 42 }],
    [],
    [{ value: 1 }, { value: 2, key: "second" }],
    [{ value: Buffer.from("tea") }],
    [{ value: { tax: 7 } }],
  ]);
  expect(await map(Buffer.from("milk"))).toEqual([[{ value: "milk" }]]);
  expect(await map()).toEqual([]);
});

test("all threads take part, and a batch of a thousand comes back whole", async () => {
  const { map } = await scene({ threads: 3 });
  const values = Array.from({ length: 1_000 }, (_, n) => ({ do: "double", n }));
  const mapped = await map(...values);
  expect(mapped).toEqual(values.map(({ n }) => [{ value: 2 * n }]));
});

test("what a sync map throws is final, what an async one rejects with is not, and neighbours go on", async () => {
  const { map } = await scene();
  expect(await map("throw", "throw-later", { do: "double", n: 1 }, "function")).toEqual([
    failure(false, "cannot"),
    failure(true, "not now"),
    [{ value: 2 }],
    failure(false, "could not be cloned"),
  ]);
});

test("an error that cannot be read fails its message alone, and what a module sends itself is ignored", async () => {
  const { map, told } = await scene({ threads: 1 });
  expect(await map("throw-unreadable", "post-anything", { do: "double", n: 1 })).toEqual([
    failure(false, "cannot be shown"),
    [{ value: "post-anything" }],
    [{ value: 2 }],
  ]);
  expect(told).toEqual([]);
});

test.each([
  ["exit", "exited with code 3"],
  ["throw-nothing-later", "failed: undefined"],
  ["hang", "gave no result within 200 ms"],
  ["wait", "gave no result within 200 ms"],
])(
  "a map that would %s fails that message alone, and its thread is replaced",
  async (what, how) => {
    const { map, told } = await scene({ timeoutMs: 200 });
    const values = Array.from({ length: 20 }, (_, n) => (n === 9 ? what : { do: "double", n }));
    const mapped = await map(...values);
    expect(mapped).toEqual(
      values.map((_, n) => (n === 9 ? failure(true, how) : [{ value: 2 * n }])),
    );
    expect(told.map(({ text }) => text).join()).toContain("it is replaced");
    expect(await map({ do: "double", n: 4 })).toEqual([[{ value: 8 }]]);
  },
);

test("a module that cannot be loaded any more fails no message: they wait, and go on once it can", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-threads-"));
  const module = join(folder, "map.mjs");
  await copyFile(EACH, module);
  const { map, mapper, told } = await scene({ module, threads: 1 });
  await rm(module);
  await map("exit");
  const mapping = map({ do: "double", n: 1 });
  await until("the module was missing twice", () => told.length >= 3);
  expect(mapper.why?.()?.detail).toMatch(/^for .*map\.mjs, which no thread can load: Cannot find/);
  await copyFile(EACH, module);
  expect(await mapping).toEqual([[{ value: 2 }]]);
  expect(mapper.why?.()).toBeUndefined();
  await rm(folder, { recursive: true });
});

test("a map that leaks ends its thread, not the process", async () => {
  const { map } = await scene({ memoryMb: 32, threads: 1, timeoutMs: 20_000 });
  expect(await map("leak")).toEqual([failure(true, "memory limit")]);
  expect(await map({ do: "double", n: 4 })).toEqual([[{ value: 8 }]]);
});

test("a batch function gets its part of the batch, and one bad message fails alone in the end", async () => {
  const { map } = await scene({ module: BATCH, threads: 1 });
  expect(await map("a", "b")).toEqual([[{ value: "a of 2" }], [{ value: "b of 2" }]]);
  expect(await map("a", "bad")).toEqual([failure(true, "bad batch"), failure(true, "bad batch")]);
  expect(await map("short")).toEqual([failure(false, "0 results for 1 messages")]);
  expect(await map("a", "exit")).toEqual([
    [{ value: "a of 1" }],
    failure(true, "exited with code 1"),
  ]);
});

test("a value that no thread can get fails for good, and its neighbours are mapped", async () => {
  const { map } = await scene({ threads: 1 });
  expect(await map(1, () => 2, 3)).toEqual([
    [{ value: 1 }],
    failure(false, "cannot be sent to a thread"),
    [{ value: 3 }],
  ]);
});

test("a list of nothing fails its message for good, and the process goes on", async () => {
  const deadLetter = new MemorySink();
  const sink = new MemorySink();
  await pipeline("p", { deadLetter })
    .source(generator({ values: [{ do: "double", n: 2 }, "list of nothing", "drop"] }))
    .map(mapThreads({ module: EACH, threads: 1 }))
    .sink(sink)
    .run();
  expect(sink.values).toEqual([4]);
  expect(deadLetter.written[0]?.headers["sluice-error"]).toContain("answered undefined");
});

test("an abort answers at once, with failures that may be retried", async () => {
  const { mapper } = await scene();
  const stop = new AbortController();
  const mapping = mapper.map([messageOf("wait")], { signal: stop.signal });
  stop.abort(new Error("drained"));
  expect(await mapping).toEqual([failure(true, "drained")]);
});

test("closing ends the threads, and what they had fails retriably", async () => {
  const { mapper, map } = await scene({ threads: 1 });
  const [running, waiting] = [map("wait"), map(1)];
  await mapper.close();
  expect(await waiting).toEqual([failure(true, "closed")]);
  expect(await running).toEqual([failure(true, "closed")]);
  expect(await map(1)).toEqual([failure(true, "closed")]);
});

test.each([
  ["no-map.mjs", /it exports other; a map module has a default export/],
  ["broken.mjs", /no configuration/],
  ["missing.mjs", /Cannot find module/],
])("%s is refused at the opening, and leaves no thread", async (file, text) => {
  const module = new URL(`maps/${file}`, import.meta.url);
  const opening = mapThreads({ module, threads: 2 }).open(connectorScene().context);
  await expect(opening).rejects.toThrow(text);
});

test("a module that hangs while it loads is refused after 30 s, and leaves no thread and no timer", async () => {
  const module = new URL("maps/never-loads.mjs", import.meta.url);
  const timer = new VirtualTimer();
  const context = { ...connectorScene().context, timer };
  const opening = mapThreads({ module, threads: 2 }).open(context);
  const refused = expect(opening).rejects.toThrow(/did not load its module within 30000 ms/);
  await timer.advance(30_000);
  await refused;
  expect(timer.sleeping).toBe(0);
});

test("a signal gives up a module that hangs while it loads at once, and leaves no thread and no timer", async () => {
  const module = new URL("maps/never-loads.mjs", import.meta.url);
  const timer = new VirtualTimer();
  const stop = new AbortController();
  const context = { ...connectorScene().context, timer, signal: stop.signal };
  const opening = mapThreads({ module, threads: 2 }).open(context);
  stop.abort(new Error("stop it"));
  await expect(opening).rejects.toThrow("stop it");
  expect(timer.sleeping).toBe(0);
});

test.skipIf(typeof Reflect.get(process.features, "typescript") === "string")(
  "a TypeScript module on a Node that does not run it is refused with the way out",
  () => {
    expect(() => mapThreads({ module: "./map.ts", threads: 1 })).toThrow(
      /does not run TypeScript; use Node 22\.18 or later, or compile it/,
    );
  },
);

test("a path is relative to the working directory", async () => {
  const { map } = await scene({ module: fileURLToPath(EACH), threads: 1 });
  expect(await map(5)).toEqual([[{ value: 5 }]]);
});

test("wrong options are refused by name", () => {
  expect(() => mapThreads({ module: EACH, threads: 0 })).toThrow(/threads is 0/);
  const misspelt = { module: EACH, threads: 1, timeout: 5 } as unknown as MapThreadsOptions;
  expect(() => mapThreads(misspelt)).toThrow(/did you mean timeoutMs/);
});

test("threads that end without end are started again more and more slowly", async () => {
  const { map, told } = await scene({ threads: 1 });
  for (let round = 0; round < 3; round++) await map("exit");
  await until("three restarts are told", () => told.length >= 3);
  expect(told.map(({ text }) => text.replace(/^.*; /, ""))).toEqual([
    "it is replaced",
    "it is replaced in 100 ms",
    "it is replaced in 200 ms",
  ]);
});
