/** What a pipeline in code is: its types, its definition, and what messages keep. In virtual time. */
import { ConfigError } from "@sluice/core";
import {
  blackhole,
  generator,
  mapBatch,
  mapFunction,
  pipeline,
  startPipeline,
} from "@sluice/pipeline";
import type {
  Message,
  PipelineDefinition,
  PipelineMiddle,
  RunningPipeline,
} from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { expect, expectTypeOf, test } from "vitest";
import { newWorld, passing, run, sinkNamed } from "./pipeline-world.ts";

test("a pipeline in code runs its source to the end, and types go from vertex to vertex", async () => {
  const { timer, runtime } = newWorld();
  const sink = new MemorySink<string>();
  const running = pipeline("orders")
    .source(generator({ values: [1, 2, 3] }))
    .map((message) => {
      expectTypeOf(message).toEqualTypeOf<Message<number>>();
      return message.value === 2 ? undefined : { value: message.value * 10 };
    })
    .map(({ value }) => [{ value: `${value}` }, { value: `${value + 1}` }])
    .sink(sink)
    .run(runtime);
  const state = await passing(timer, running);
  expect(sink.values).toEqual(["10", "11", "30", "31"]);
  expect(sink.written.map(({ id }) => id)).toEqual(["0/0", "0/1", "2/0", "2/1"]);
  expect(state).toMatchObject({ name: "orders", status: "stopped", unacknowledged: 0 });
  expect(state.vertices.map(({ name, kind, connector }) => [name, kind, connector])).toEqual([
    ["in", "source", "generator"],
    ["map", "map", "function"],
    ["map2", "map", "function"],
    ["out", "sink", "memory"],
  ]);
  expect(state.vertices[1]?.counts).toMatchObject({ read: 3, written: 2, dropped: 1 });
  expect(timer.sleeping).toBe(0);
});

test.each(["map", "mapBatch", "sink", "run", "start"])(
  "%s before a source is an error with the way out",
  (call) => {
    const early = pipeline("p") as unknown as Record<string, () => unknown>;
    expect(() => early[call]?.()).toThrow(
      `p.${call}() was called on a pipeline without a source; begin with pipeline("p").source(`,
    );
  },
);

test.each(["map", "mapBatch", "sink", "run", "start"])(
  "%s before a source is an error with the way out",
  (call) => {
    const early = pipeline("p") as unknown as Record<string, () => unknown>;
    expect(() => early[call]?.()).toThrow(
      `p.${call}() was called on a pipeline without a source; begin with pipeline("p").source(`,
    );
  },
);

test("a map or a sink of the wrong type does not compile", () => {
  const numbers = pipeline("p").source(generator({ values: [1] }));
  // @ts-expect-error The source answers numbers.
  numbers.map(({ value }: Message<string>) => ({ value }));
  // @ts-expect-error The source answers numbers.
  numbers.map(mapBatch<string, string>((all) => all.map(({ value }) => ({ value }))));
  // @ts-expect-error The source answers numbers.
  numbers.sink(new MemorySink<string>());
  numbers.sink(new MemorySink<number | string>());
  numbers.sink(blackhole());
  const texts = numbers.mapBatch((all) => all.map(({ value }) => ({ value: `${value}` })));
  expectTypeOf(texts).toEqualTypeOf<PipelineMiddle<string>>();
});

test("headers and key go from message to output unless the map sets them, and a trace always does", async () => {
  const world = newWorld();
  const source = new MemorySource<number>();
  const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
  source.put({ value: 1, key: "k", headers: { traceparent, a: "1" }, eventTimeMs: 5 });
  const sink = new MemorySink();
  await run(world, {
    source: { name: "in", source },
    maps: [
      { name: "same", map: mapFunction(({ value }) => ({ value })) },
      {
        name: "other",
        map: mapFunction<number, number>((message) => {
          expect(message).toEqual({
            id: "0",
            value: 1,
            key: "k",
            headers: { traceparent, a: "1" },
            eventTimeMs: 5,
          });
          return { value: 2, headers: { b: "2" }, key: "other" };
        }),
      },
    ],
    sink: { name: "out", sink },
  });
  expect(sink.written).toEqual([
    { id: "0", value: 2, key: "other", headers: { traceparent, b: "2" }, eventTimeMs: 5 },
  ]);
});

test.each<[string, Partial<PipelineDefinition>, RegExp]>([
  ["a name with a slash", { name: "a/b" }, /name of the pipeline is "a\/b"; it must be letters/],
  ["two vertices of one name", { sink: sinkNamed("in") }, /two vertices named in/],
  ["no attempt", { retry: { attempts: 0 } }, /retry.attempts is 0/],
  ["a negative drain", { drainMs: -1 }, /drainMs is -1/],
  [
    "a rate without max",
    { limits: { rateLimit: {} as { max: number } } },
    /rateLimit.max is missing/,
  ],
  ["half a batch", { limits: { readBatchSize: 0.5 } }, /p.in.limits.readBatchSize is 0.5/],
  ["a limit by a wrong name", { limits: { rate: 10 } as object }, /pipeline has no option "rate"/],
  ["a limit that is a text", { limits: "10/s" as never }, /limits of the pipeline are "10\/s"/],
  ["an option that is not known", { retries: 3 } as object, /has no option "retries"; it has name/],
  ["a retry that is a number", { retry: 3 as never }, /the options of retry are 3; write retry/],
  [
    "a sink that was not called",
    { sink: { name: "out", sink: blackhole as never } },
    /the sink of p is a function; call it with its options; it must be a connector, such as/,
  ],
  [
    "a dead-letter sink that is none",
    { deadLetter: {} as never },
    /deadLetter of p is an object; it must be a connector/,
  ],
])("%s is refused before anything is opened", async (_, wrong, expected) => {
  const source = new MemorySource([1]);
  const definition = {
    name: "p",
    source: { name: "in", source },
    maps: [],
    sink: sinkNamed("out"),
    ...wrong,
  };
  const starting = startPipeline(definition, newWorld().runtime);
  await expect(starting).rejects.toThrow(expected);
  await expect(starting).rejects.toBeInstanceOf(ConfigError);
  expect(source.isOpen).toBe(false);
});

test("a limit beside limits is refused, because it would not hold", () => {
  const start = pipeline("p");
  const misplaced = { rateLimit: { max: 10 } } as object;
  expect(() => start.source(generator({ values: [1] }), misplaced)).toThrow(
    /the vertex in has no option "rateLimit"; .*limits/,
  );
});

test("what an observer throws does not disturb the pipeline", async () => {
  const { timer } = newWorld();
  const running: RunningPipeline = await pipeline("p")
    .source(generator({ values: [1] }))
    .sink(new MemorySink())
    .start({ timer, observe: throwing });
  await expect(passing(timer, running.done)).resolves.toMatchObject({ status: "stopped" });
});

function throwing(): never {
  throw new Error("the log is full");
}
