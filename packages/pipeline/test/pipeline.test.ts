/** What a pipeline does with messages, failures and its end: in virtual time. */
import { ConfigError, SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import {
  blackhole,
  generator,
  mapBatch,
  mapFunction,
  mapModule,
  pipeline,
  startPipeline,
} from "@sluice/pipeline";
import type {
  MapFunction,
  Message,
  PipelineDefinition,
  PipelineEvent,
  PipelineMiddle,
  PipelineRuntime,
  PipelineState,
  RunningPipeline,
  SourceConnector,
} from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { expect, expectTypeOf, test } from "vitest";

interface World {
  readonly timer: VirtualTimer;
  readonly events: PipelineEvent[];
  readonly runtime: PipelineRuntime;
}

function newWorld(): World {
  const timer = new VirtualTimer();
  const events: PipelineEvent[] = [];
  const observe = (event: PipelineEvent): void => void events.push(event);
  return { timer, events, runtime: { timer, random: new SeededRandom(1), observe } };
}

/** Lets time pass until the promise has settled. */
async function passing<T>(timer: VirtualTimer, promise: Promise<T>, stepMs = 10): Promise<T> {
  const settled = new AbortController();
  const settle = (): void => settled.abort();
  promise.then(settle, settle);
  for (let step = 0; step < 100_000 && !settled.signal.aborted; step++) await timer.advance(stepMs);
  return promise;
}

/** Runs a definition to its end. */
async function run(
  { timer, runtime }: World,
  definition: Partial<PipelineDefinition> & Pick<PipelineDefinition, "source" | "sink">,
): Promise<PipelineState> {
  const running = await startPipeline({ name: "p", maps: [], ...definition }, runtime);
  return passing(timer, running.done);
}

const ofKind = <Kind extends PipelineEvent["kind"]>(
  { events }: World,
  kind: Kind,
): readonly Extract<PipelineEvent, { kind: Kind }>[] =>
  events.filter((event): event is Extract<PipelineEvent, { kind: Kind }> => event.kind === kind);

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

test("a message that a map cannot process goes to the dead-letter sink with the reason, and the others pass", async () => {
  const world = newWorld();
  const source = new MemorySource([1, 2, 3]);
  const sink = new MemorySink();
  const deadLetter = new MemorySink();
  const map = mapFunction<number, number>(({ value }) => {
    if (value === 2) throw new Error("two\nis not\twanted");
    return { value };
  });
  await run(world, {
    source: { name: "in", source },
    maps: [{ name: "check", map }],
    sink: { name: "out", sink },
    deadLetter,
  });
  expect(sink.values).toEqual([1, 3]);
  expect(deadLetter.written).toMatchObject([
    {
      value: 2,
      headers: {
        "sluice-error": "two is not wanted",
        "sluice-vertex": "check",
        "sluice-attempts": "1",
      },
    },
  ]);
  expect(source.acknowledged).toHaveLength(3);
  expect(ofKind(world, "message-failed")).toMatchObject([
    { vertex: "check", messageId: "1", isDeadLettered: true, isTriedAgain: false, others: 0 },
  ]);
});

test("an async map that fails is tried again with backoff, as often as retry allows", async () => {
  const world = newWorld();
  const deadLetter = new MemorySink();
  const triedAtMs: number[] = [];
  const map = mapFunction<number, number>(() => {
    triedAtMs.push(world.timer.now());
    return Promise.reject(new Error("away"));
  });
  const state = await run(world, {
    source: { name: "in", source: new MemorySource([1]) },
    maps: [{ name: "map", map }],
    sink: { name: "out", sink: new MemorySink() },
    retry: { attempts: 4, backoffMs: 100, backoffMaxMs: 150 },
    deadLetter,
  });
  const pauses = triedAtMs.slice(1).map((atMs, index) => atMs - (triedAtMs[index] as number));
  expect(pauses).toHaveLength(3);
  for (const [index, most] of [100, 150, 150].entries()) {
    expect(pauses[index]).toBeGreaterThanOrEqual(most / 2);
    expect(pauses[index]).toBeLessThanOrEqual(most);
  }
  expect(deadLetter.written[0]?.headers).toMatchObject({ "sluice-attempts": "4" });
  expect(state.vertices[1]?.counts).toMatchObject({ failed: 4, retried: 3, deadLettered: 1 });
});

test("of a batch that fails as a whole only the poison message is given up", async () => {
  const world = newWorld();
  const sink = new MemorySink<number>();
  const deadLetter = new MemorySink<number>();
  const map = mapBatch<number, number>((messages) => {
    if (messages.some(({ value }) => value === 7)) throw new Error("no seven");
    return messages.map(({ value }) => ({ value }));
  });
  await run(world, {
    source: { name: "in", source: new MemorySource(Array.from({ length: 20 }, (_, i) => i)) },
    maps: [{ name: "map", map }],
    sink: { name: "out", sink },
    deadLetter,
  });
  expect(deadLetter.values).toEqual([7]);
  expect(sink.values).toEqual(Array.from({ length: 20 }, (_, i) => i).filter((i) => i !== 7));
});

test.each([
  ["a list with nothing in it", () => [undefined], "answered undefined"],
  ["a value instead of an output", ({ value }: Message) => value, "answered 7"],
  ["an object without value", () => ({ order: 1 }), "answered an object without value"],
  ["a rejected list", () => Promise.resolve([null]), "answered null"],
])(
  "a map that answers %s fails that message for good, with what is expected",
  async (_, wrong, text) => {
    const world = newWorld();
    const source = new MemorySource([6, 7, 8]);
    const sink = new MemorySink();
    const deadLetter = new MemorySink();
    const map = ((message: Message) =>
      message.value === 7 ? wrong(message) : { value: message.value }) as MapFunction;
    await run(world, {
      source: { name: "in", source },
      maps: [{ name: "map", map: mapFunction(map) }],
      sink: { name: "out", sink },
      deadLetter,
    });
    expect(sink.values).toEqual([6, 8]);
    expect(deadLetter.values).toEqual([7]);
    expect(deadLetter.written[0]?.headers["sluice-error"]).toContain(text);
    expect(deadLetter.written[0]?.headers["sluice-error"]).toContain(
      "it must answer { value: … }, a list of them, or undefined to drop the message",
    );
    expect(source.acknowledged).toHaveLength(3);
  },
);

test("bytes that are no JSON make a poison message, with its bytes in the dead-letter sink", async () => {
  const world = newWorld();
  const values = ['{"a":1}', "{broken", "[2]"].map((text) => Buffer.from(text));
  const source = Object.assign(new MemorySource<unknown>(values), { format: "json" as const });
  const sink = new MemorySink();
  const deadLetter = new MemorySink();
  await run(world, { source: { name: "in", source }, sink: { name: "out", sink }, deadLetter });
  expect(sink.values).toEqual([{ a: 1 }, [2]]);
  expect(deadLetter.values).toEqual([Buffer.from("{broken")]);
  expect(deadLetter.written[0]?.headers["sluice-vertex"]).toBe("in");
  expect(source.acknowledged).toHaveLength(3);
});

test("a sink's retryAfterMs is obeyed", async () => {
  const world = newWorld();
  const writtenAtMs: number[] = [];
  const sink = new MemorySink({
    onWrite: (messages) => {
      writtenAtMs.push(world.timer.now());
      if (writtenAtMs.length > 1) return undefined;
      const error = new Error("busy");
      return messages.map(() => ({ error, isRetriable: true, retryAfterMs: 7000 }));
    },
  });
  await run(world, {
    source: { name: "in", source: new MemorySource([1]) },
    sink: { name: "out", sink },
  });
  expect((writtenAtMs[1] ?? 0) - (writtenAtMs[0] ?? 0)).toBeGreaterThanOrEqual(7000);
});

test("without a dead-letter sink a sink that is away for a minute loses nothing", async () => {
  const world = newWorld();
  const sink = new MemorySink<number>({
    onWrite: () => {
      if (world.timer.now() < 60_000) throw new Error("away");
    },
  });
  const source = new MemorySource(Array.from({ length: 2000 }, (_, index) => index));
  await run(world, { source: { name: "in", source }, sink: { name: "out", sink } });
  expect(sink.values).toEqual(Array.from({ length: 2000 }, (_, index) => index));
  const told = ofKind(world, "message-failed");
  expect(told.length).toBeGreaterThan(3);
  expect(told.length).toBeLessThan(60);
  expect(told.every(({ isTriedAgain }) => isTriedAgain)).toBe(true);
});

test("a message that a sink refuses for good is given up at once", async () => {
  const world = newWorld();
  const deadLetter = new MemorySink<number>();
  const sink = new MemorySink<number>({
    onWrite: (messages) =>
      messages.map(({ value }) =>
        value === 2 ? { error: new Error("too large"), isRetriable: false } : undefined,
      ),
  });
  await run(world, {
    source: { name: "in", source: new MemorySource([1, 2, 3]) },
    sink: { name: "out", sink },
    deadLetter,
  });
  expect(sink.values).toEqual([1, 3]);
  expect(deadLetter.values).toEqual([2]);
  expect(world.timer.now()).toBeLessThan(100);
});

test("a message that the dead-letter sink refuses for good is told of as lost, and the pipeline goes on", async () => {
  const world = newWorld();
  const source = new MemorySource([0, 1, 2, 3]);
  const sink = new MemorySink<number>();
  const error = new Error("a line break");
  const deadLetter = new MemorySink<number>({
    onWrite: (messages) =>
      messages.map(({ value }) => (value === 1 ? { error, isRetriable: false } : undefined)),
  });
  const refuse = mapFunction<number, number>(({ value }) => {
    if (value < 2) throw new Error("too small");
    return { value };
  });
  await run(world, {
    source: { name: "in", source },
    maps: [{ name: "map", map: refuse }],
    sink: { name: "out", sink },
    deadLetter,
  });
  expect(sink.values).toEqual([2, 3]);
  expect(deadLetter.values).toEqual([0]);
  expect(source.acknowledged).toHaveLength(4);
  expect(ofKind(world, "message-failed")).toMatchObject([
    { messageId: "0", isTriedAgain: false, isDeadLettered: true, others: 0 },
    { messageId: "1", isTriedAgain: false, isDeadLettered: false, others: 0 },
  ]);
  const [, lost] = ofKind(world, "message-failed");
  expect(lost?.error.message).toBe("too small; the dead-letter sink refused it: a line break");
});

test("a closed source is not asked for its backlog", async () => {
  const world = newWorld();
  const memory = new MemorySource([1, 2]);
  let asked = 0;
  const backlog = (): Promise<number> => Promise.resolve(++asked);
  const source: SourceConnector<number> = {
    kind: "memory",
    open: async (context) => {
      const opened = await memory.open(context);
      return { ...opened, backlog };
    },
  };
  const definition = {
    name: "p",
    source: { name: "in", source },
    maps: [],
    sink: { name: "out", sink: new MemorySink() },
  };
  const running = await startPipeline(definition, world.runtime);
  await passing(world.timer, running.done);
  await world.timer.advance(5_000);
  expect(running.state().vertices[0]?.queue).toBeUndefined();
  expect(asked).toBe(0);
});

test("a failing dead-letter sink holds the vertex back and loses nothing", async () => {
  const world = newWorld();
  const source = new MemorySource(Array.from({ length: 5000 }, (_, index) => index));
  const deadLetter = new MemorySink<number>({
    onWrite: () => {
      if (world.timer.now() < 30_000) throw new Error("the dead-letter sink is away");
    },
  });
  const map = mapFunction<number, number>(({ value }) => {
    if (value === 0) throw new Error("poison");
    return { value };
  });
  const sink = new MemorySink<number>();
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source },
      maps: [{ name: "map", map }],
      sink: { name: "out", sink },
      deadLetter,
    },
    world.runtime,
  );
  await world.timer.advance(20_000);
  expect(source.acknowledged).toEqual([]);
  expect(running.state().unacknowledged).toBeLessThanOrEqual(2000);
  expect(ofKind(world, "connector")[0]?.event).toMatchObject({ level: "error" });
  await passing(world.timer, running.done);
  expect(deadLetter.values).toEqual([0]);
  expect(source.acknowledged).toHaveLength(5000);
});

test("a source that cannot be read is tried again with backoff until it heals", async () => {
  const world = newWorld();
  let reads = 0;
  const source = new MemorySource([1, 2], {
    onRead: () => {
      if (++reads <= 5) throw new Error("connection refused");
    },
  });
  const sink = new MemorySink();
  await run(world, { source: { name: "in", source }, sink: { name: "out", sink } });
  expect(sink.values).toEqual([1, 2]);
  expect(ofKind(world, "read-failed")).toHaveLength(5);
  expect(world.timer.now()).toBeGreaterThan(50 + 100 + 200 + 400 + 800);
});

test("acknowledgements that fail are tried again, and the source is not read for ever meanwhile", async () => {
  const world = newWorld();
  const source = new MemorySource(
    Array.from({ length: 30_000 }, (_, index) => index),
    {
      onAck: () => {
        if (world.timer.now() < 5000) throw new Error("not now");
      },
    },
  );
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source },
      maps: [],
      sink: { name: "out", sink: new MemorySink() },
    },
    world.runtime,
  );
  await world.timer.advance(4000);
  expect(running.state().unacknowledged).toBeLessThanOrEqual(13_000);
  await passing(world.timer, running.done);
  expect(source.acknowledged).toHaveLength(30_000);
  expect(ofKind(world, "ack-failed").length).toBeGreaterThan(1);
});

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

test("a stop drains what was read, gives the rest back at the deadline and closes everything", async () => {
  const world = newWorld();
  const source = new MemorySource(
    Array.from({ length: 100 }, (_, index) => index),
    { isEndless: true },
  );
  const sink = new MemorySink<number>({ onWrite: () => world.timer.sleep(1000) });
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source },
      maps: [],
      sink: { name: "out", sink },
      limits: { readBatchSize: 10 },
      drainMs: 2500,
    },
    world.runtime,
  );
  await world.timer.advance(1500);
  expect(running.state()).toMatchObject({ status: "running", unacknowledged: 30 });
  const stopped = running.stop();
  expect(running.state().status).toBe("draining");
  const state = await passing(world.timer, stopped);
  expect(state.status).toBe("stopped");
  // Read before the stop: 40. Written by 3 calls within the deadline and one that ended soon after it.
  expect(source.acknowledged).toHaveLength(40);
  expect(source.isOpen || sink.isOpen).toBe(false);
  expect(world.timer.sleeping).toBe(0);
  expect(world.events.map(({ kind }) => kind)).toEqual([
    "opening",
    "opening",
    "started",
    "draining",
    "stopped",
  ]);
});

test("a sink that hangs does not hold up a stop longer than the deadline and its grace", async () => {
  const world = newWorld();
  const source = new MemorySource([1, 2, 3], { isEndless: true });
  const sink = new MemorySink({ onWrite: () => new Promise<void>(() => {}) });
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source },
      maps: [],
      sink: { name: "out", sink },
      drainMs: 1000,
    },
    world.runtime,
  );
  await world.timer.advance(100);
  const state = await passing(world.timer, running.stop());
  expect(world.timer.now()).toBeLessThan(2200);
  expect(state.unacknowledged).toBe(3);
  expect(source.givenBack.map(({ id }) => id)).toEqual(["0", "1", "2"]);
  expect(source.acknowledged).toEqual([]);
});

test("messages that wait for another try at the deadline are given back", async () => {
  const world = newWorld();
  const source = new MemorySource([1, 2, 3], { isEndless: true });
  const sink = new MemorySink({ onWrite: () => Promise.reject(new Error("away")) });
  const definition = {
    name: "p",
    source: { name: "in", source },
    maps: [],
    sink: { name: "out", sink },
    drainMs: 1000,
  };
  const running = await startPipeline(definition, world.runtime);
  await world.timer.advance(5000);
  await passing(world.timer, running.stop());
  expect(source.givenBack.map(({ id }) => id)).toEqual(["0", "1", "2"]);
  expect(source.abandoned).toEqual([]);
});

test("the signal stops a pipeline with a drain, and an aborted one does not start it", async () => {
  const world = newWorld();
  const stop = new AbortController();
  const source = new MemorySource([1, 2, 3], { isEndless: true });
  const sink = new MemorySink();
  const done = pipeline("p")
    .source(source)
    .sink(sink)
    .run({ ...world.runtime, signal: stop.signal });
  await world.timer.advance(50);
  stop.abort();
  await expect(passing(world.timer, done)).resolves.toMatchObject({ status: "stopped" });
  expect(source.acknowledged).toHaveLength(3);
  const again = pipeline("p").source(source).sink(sink);
  await expect(again.run({ ...world.runtime, signal: stop.signal })).rejects.toThrow(/abort/);
  expect(source.isOpen || sink.isOpen).toBe(false);
});

test("a connector that cannot be opened closes those that are open and rejects the start", async () => {
  const world = newWorld();
  const sink = new MemorySink();
  const deadLetter = new MemorySink();
  const source = { kind: "broken", open: () => Promise.reject(new Error("no such host")) };
  const starting = startPipeline(
    {
      name: "p",
      source: { name: "in", source },
      maps: [],
      sink: { name: "out", sink },
      deadLetter,
      limits: { rateLimit: { max: 5 } },
    },
    world.runtime,
  );
  await expect(starting).rejects.toThrow("no such host");
  expect(sink.isOpen || deadLetter.isOpen).toBe(false);
  expect(world.timer.sleeping).toBe(0);
});

test("a source that answers more than it was asked for fails the pipeline", async () => {
  const world = newWorld();
  const source = {
    kind: "greedy",
    open: () =>
      Promise.resolve({
        read: () => Promise.resolve(Array.from({ length: 501 }, (_, i) => messageOf(i))),
        ack: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
  };
  const running = run(world, {
    source: { name: "in", source },
    sink: { name: "out", sink: new MemorySink() },
  });
  await expect(running).rejects.toThrow(/501 messages to a read of at most 500/);
  expect(world.events.at(-1)?.kind).toBe("failed");
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

function messageOf(index: number): Message {
  return { id: String(index), value: index, headers: {} };
}

function sinkNamed(name: string): PipelineDefinition["sink"] {
  return { name, sink: new MemorySink() };
}

function moduleOf(code: string): URL {
  return new URL(`data:text/javascript,${encodeURIComponent(code)}`);
}
