/** How a pipeline starts, drains and ends. In virtual time. */
import { once } from "node:events";
import { pipeline, startPipeline } from "@sluice/pipeline";
import type { Message, SourceConnector } from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { expect, test } from "vitest";
import { newWorld, passing, run, sinkNamed } from "./pipeline-world.ts";

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

test("a write that runs at the deadline of a drain may end, so that its messages do not come again", async () => {
  const world = newWorld();
  const source = new MemorySource([1, 2, 3], { isEndless: true });
  // As a request does: it arrives at once, and an abort only loses its answer.
  const sink = new MemorySink({ onWrite: (_, { signal }) => world.timer.sleep(1300, signal) });
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
  await passing(world.timer, running.stop());
  expect(source.acknowledged).toHaveLength(3);
  expect(source.givenBack).toEqual([]);
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

test("a stop gives up a map that is still opening at once, and closes what opens later", async () => {
  const { timer, runtime } = newWorld();
  const stop = new AbortController();
  let closed = 0;
  const loaded = new AbortController();
  const opening = once(loaded.signal, "abort");
  const mapper = { map: () => [], close: () => Promise.resolve(void closed++) };
  const start = startPipeline(
    {
      name: "p",
      source: { name: "in", source: new MemorySource() },
      maps: [{ name: "late", map: { kind: "late", open: () => opening.then(() => mapper) } }],
      sink: sinkNamed("out"),
    },
    { ...runtime, signal: stop.signal },
  );
  const rejected = expect(start).rejects.toThrow("stop it");
  await timer.advance(60_000);
  stop.abort(new Error("stop it"));
  await rejected;
  expect(timer.sleeping).toBe(0);
  loaded.abort();
  await timer.advance(1);
  expect(closed).toBe(1);
});

test("an observer that stops the pipeline at the event of an opening keeps the connector closed", async () => {
  const { timer, runtime } = newWorld();
  const stop = new AbortController();
  let opened = 0;
  const hanging = () => new Promise<never>(() => void opened++);
  const start = startPipeline(
    {
      name: "p",
      source: { name: "in", source: { kind: "hanging", open: hanging } },
      maps: [],
      sink: sinkNamed("out"),
    },
    {
      ...runtime,
      signal: stop.signal,
      observe: (event) => {
        if (event.kind === "opening" && event.vertex === "in") stop.abort(new Error("stop it"));
      },
    },
  );
  await expect(passing(timer, start)).rejects.toThrow("stop it");
  expect(opened).toBe(0);
});

function messageOf(index: number): Message {
  return { id: String(index), value: index, headers: {} };
}

test("no further try begins after the deadline of a drain", async () => {
  const world = newWorld();
  const source = new MemorySource([1, 2, 3], { isEndless: true });
  const writtenAtMs: number[] = [];
  // The last tries are one write for each message; the first of them runs at the deadline.
  const sink = new MemorySink({
    onWrite: async () => {
      writtenAtMs.push(world.timer.now());
      if (writtenAtMs.length > 1) await world.timer.sleep(2000);
      throw new Error("away");
    },
  });
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source },
      maps: [],
      sink: { name: "out", sink },
      retry: { attempts: 2, backoffMs: 100 },
      deadLetter: new MemorySink(),
      drainMs: 1500,
    },
    world.runtime,
  );
  await world.timer.advance(200);
  expect(writtenAtMs).toHaveLength(2);
  await passing(world.timer, running.stop());
  await world.timer.advance(10_000);
  expect(writtenAtMs).toHaveLength(2);
  expect(source.givenBack.map(({ id }) => id)).toEqual(["0", "1", "2"]);
});
