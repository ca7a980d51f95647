/** Maps in the process, and how many messages are in flight and in buffers. In virtual time. */
import {
  blackhole,
  generator,
  mapBatch,
  mapFunction,
  mapModule,
  startPipeline,
} from "@sluice/pipeline";
import type { Mapper, Message } from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { expect, test } from "vitest";
import { newWorld, ofKind, passing, run } from "./pipeline-world.ts";

test("one map call of a thousand outputs keeps the next buffer within its bound", async () => {
  const world = newWorld();
  const sink = new MemorySink<number>();
  const many = mapFunction<number, number>(({ value }) =>
    Array.from({ length: 1000 }, (_, index) => ({ value: value * 1000 + index })),
  );
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source: new MemorySource([0, 1, 2]) },
      maps: [{ name: "many", map: many }],
      sink: {
        name: "out",
        sink,
        limits: { readBatchSize: 10, rateLimit: { max: 1000, min: 1000 } },
      },
    },
    world.runtime,
  );
  let most = 0;
  for (let step = 0; step < 100; step++) {
    await world.timer.advance(10);
    most = Math.max(most, running.state().vertices[2]?.queue ?? 0);
  }
  expect(most).toBeGreaterThan(0);
  expect(most).toBeLessThanOrEqual(20);
  await passing(world.timer, running.done);
  expect(sink.values).toEqual(Array.from({ length: 3000 }, (_, index) => index));
});

test.each<[unknown, RegExp]>([
  ["tea", /a map answered "tea"; it must answer { value: … }, a list of them, or undefined/],
  [{ total: 5 }, /a map answered an object without value/],
  [[{ value: 1 }, null], /a map answered null/],
  [{ value: 1, key: 5 }, /the key of a map's output is 5; it must be a text/],
  [{ value: 1, headers: { a: 5 } }, /the header a of a map's output is 5/],
  [{ value: 1, headers: "a" }, /the headers of a map's output are "a"/],
  [{ value: 1, eventTimeMs: "now" }, /the eventTimeMs of a map's output is "now"/],
])("the answer %j of a map is a failure that says what to answer", async (answer, expected) => {
  const world = newWorld();
  const sink = new MemorySink<number>();
  const deadLetter = new MemorySink();
  const answerOf = (value: number): never => (value === 2 ? answer : { value }) as never;
  await run(world, {
    source: { name: "in", source: new MemorySource([1, 2, 3]) },
    maps: [{ name: "map", map: mapFunction(({ value }) => answerOf(value as number)) }],
    sink: { name: "out", sink },
    deadLetter,
  });
  expect(sink.values).toEqual([1, 3]);
  expect(deadLetter.written.map(({ headers }) => headers["sluice-error"])).toEqual([
    expect.stringMatching(expected),
  ]);
});

const unreadable = (name: string): Error =>
  Object.defineProperty(new Error("x"), name, {
    get: () => {
      throw new Error("no");
    },
  });

test.each<[string, (value: number) => unknown]>([
  [
    "answers a getter that throws",
    (value) =>
      Object.defineProperty({ value }, "key", {
        get: () => {
          throw new Error("no");
        },
      }),
  ],
  [
    "answers a proxy that throws",
    () =>
      new Proxy(
        {},
        {
          has: () => {
            throw new Error("no");
          },
        },
      ),
  ],
  [
    "throws an error without a readable message",
    () => {
      throw unreadable("message");
    },
  ],
  [
    "throws an error whose isRetriable cannot be read",
    () => {
      throw unreadable("isRetriable");
    },
  ],
  [
    "throws what has no text",
    () => {
      throw Object.create(null);
    },
  ],
  ["rejects with what has no text", () => Promise.reject(Object.create(null))],
])("a map that %s fails that message alone", async (_, answerOf) => {
  const world = newWorld();
  const sink = new MemorySink<number>();
  const deadLetter = new MemorySink();
  const map = mapFunction(({ value }) => (value === 2 ? answerOf(2) : { value }) as never);
  await run(world, {
    source: { name: "in", source: new MemorySource([1, 2, 3]) },
    maps: [{ name: "map", map }],
    sink: { name: "out", sink },
    deadLetter,
    retry: { attempts: 1 },
  });
  expect(sink.values).toEqual([1, 3]);
  expect(deadLetter.written.map(({ value }) => value)).toEqual([2]);
});

test("a batch map that answers no list fails at once, with what to answer", async () => {
  const world = newWorld();
  const deadLetter = new MemorySink();
  await run(world, {
    source: { name: "in", source: new MemorySource([1]) },
    maps: [{ name: "map", map: mapBatch(() => Promise.resolve("tea" as never)) }],
    sink: { name: "out", sink: new MemorySink() },
    deadLetter,
  });
  const { headers } = deadLetter.written[0] as Message;
  expect(headers["sluice-error"]).toMatch(/a batch map answered "tea"; it must answer a list/);
  expect(headers["sluice-attempts"]).toBe("1");
});

test("a module maps messages with its settings, one by one or in batches", async () => {
  const world = newWorld();
  const module = moduleOf(
    `export default ({ value }, { settings }) => ({ value: value + settings });`,
  );
  const batch = moduleOf(
    `export const batch = (all) => all.map(({ value }) => ({ value: -value }));`,
  );
  const sink = new MemorySink();
  await run(world, {
    source: { name: "in", source: new MemorySource([1, 2]) },
    maps: [
      { name: "add", map: mapModule({ module, settings: 10 }) },
      { name: "turn", map: mapModule({ module: batch }) },
    ],
    sink: { name: "out", sink },
  });
  expect(sink.values).toEqual([-11, -12]);
  const wrong = { name: "add", map: mapModule({ module: moduleOf("export const other = 1;") }) };
  const source = { name: "in", source: new MemorySource([1]) };
  await expect(run(world, { source, maps: [wrong], sink: { name: "out", sink } })).rejects.toThrow(
    /exports other; a map module has a default export/,
  );
  const five = { name: "add", map: mapModule({ module: moduleOf("export default 5;") }) };
  await expect(run(world, { source, maps: [five], sink: { name: "out", sink } })).rejects.toThrow(
    /exports default, which is no function; a map module has a default export/,
  );
  const missing = { name: "add", map: mapModule({ module: "./nowhere.mjs" }) };
  await expect(
    run(world, { source, maps: [missing], sink: { name: "out", sink } }),
  ).rejects.toThrow(/nowhere.mjs cannot be loaded/);
});

test("a map that hangs is cut off after timeoutMs and tried again", async () => {
  const world = newWorld();
  const sink = new MemorySink<number>();
  let calls = 0;
  const map = mapFunction<number, number>(
    ({ value }) => {
      if (value === 1 && ++calls === 1) return new Promise(() => {});
      return Promise.resolve({ value });
    },
    { timeoutMs: 500 },
  );
  await run(world, {
    source: { name: "in", source: new MemorySource([0, 1, 2]) },
    maps: [{ name: "map", map }],
    sink: { name: "out", sink },
  });
  expect(calls).toBe(2);
  expect(sink.values).toEqual([0, 1, 2]);
  expect(ofKind(world, "message-failed")[0]?.error.message).toMatch(/longer than 500 ms/);
  expect(world.timer.sleeping).toBe(0);
});

test("as many batches are in flight as concurrency allows, and a change of it acts at once", async () => {
  const world = newWorld();
  let [now, most] = [0, 0];
  const sink = new MemorySink({
    onWrite: async () => {
      most = Math.max(most, ++now);
      await world.timer.sleep(100);
      now--;
    },
  });
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source: generator({ values: (index) => index }) },
      maps: [],
      sink: { name: "out", sink },
      limits: { readBatchSize: 1, concurrency: 3 },
      bufferMax: 100,
    },
    world.runtime,
  );
  await world.timer.advance(1000);
  expect(most).toBe(3);
  await running.setLimits("out", { readBatchSize: 1, concurrency: 8 });
  await world.timer.advance(50);
  expect(most).toBe(8);
  await passing(world.timer, running.stop());
});

function moduleOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}

test("a vertex tells since when it works on its oldest batch, and with which failure it is tried again", async () => {
  const { timer, runtime } = newWorld();
  const answers: (() => void)[] = [];
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source: generator({ values: [1] }) },
      maps: [
        {
          name: "hang",
          map: mapFunction(async ({ value }) => {
            await new Promise<void>((resolve) => answers.push(resolve));
            if (answers.length === 1) throw new Error("the first try");
            return { value };
          }),
        },
      ],
      sink: { name: "out", sink: blackhole() },
    },
    runtime,
  );
  const workOf = (): unknown => running.state().vertices[1]?.work;
  await timer.advance(12_000);
  expect(workOf()).toEqual({ sinceMs: expect.any(Number) as number, messages: 1 });
  const { sinceMs } = workOf() as { readonly sinceMs: number };
  expect(timer.now() - sinceMs).toBeGreaterThan(11_900);
  answers[0]?.();
  await timer.advance(1_000);
  expect(workOf()).toEqual({ sinceMs, messages: 1, failure: "the first try" });
  answers[1]?.();
  await passing(timer, running.done);
  expect(workOf()).toBeUndefined();
});

test("a map that cannot be started is down in the state of its vertex, not behind the next one", async () => {
  const world = newWorld();
  const down = { detail: "for python3, which exited with code 2", sinceMs: 0 };
  const mapper: Mapper = {
    map: () => new Promise(() => {}),
    why: () => down,
    close: () => Promise.resolve(),
  };
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source: new MemorySource([1]) },
      maps: [{ name: "map", map: { kind: "command", open: () => Promise.resolve(mapper) } }],
      sink: { name: "out", sink: new MemorySink() },
      drainMs: 0,
    },
    world.runtime,
  );
  await world.timer.advance(1_000);
  const [, map] = running.state().vertices;
  expect(map).toMatchObject({ waiting: { ...down, isDown: true }, work: { messages: 1 } });
  await passing(world.timer, running.stop());
});
