/** What becomes of messages that fail: tries, dead letters, losses that are told. In virtual time. */
import { mapBatch, mapFunction, startPipeline } from "@sluice/pipeline";
import type { MapFunction, Message } from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import { expect, test } from "vitest";
import { newWorld, ofKind, passing, run } from "./pipeline-world.ts";

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

test("JSON that is no UTF-8 makes a poison message; a replacement character that was sent is kept", async () => {
  const world = newWorld();
  const latin1 = Buffer.from('"Zürich"', "latin1");
  const source = Object.assign(new MemorySource<unknown>([latin1, Buffer.from('"\u{FFFD}"')]), {
    format: "json" as const,
  });
  const sink = new MemorySink();
  const deadLetter = new MemorySink();
  await run(world, { source: { name: "in", source }, sink: { name: "out", sink }, deadLetter });
  expect(sink.values).toEqual(["\u{FFFD}"]);
  expect(deadLetter.values).toEqual([latin1]);
  expect(deadLetter.written[0]?.headers["sluice-error"]).toContain("no UTF-8");
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
  const vertices = { source: { name: "in", source }, maps: [], sink: { name: "out", sink } };
  const running = await startPipeline({ name: "p", ...vertices }, world.runtime);
  await world.timer.advance(500);
  expect(running.state().vertices[0]?.waiting).toMatchObject({
    reason: undefined,
    detail: "for its source, which cannot be read: connection refused",
    isDown: true,
    sinceMs: 0,
  });
  await passing(world.timer, running.done);
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
  expect(running.state().vertices[0]?.waiting).toMatchObject({
    detail: "for its source, which takes no acknowledgements",
    isDown: true,
  });
  await passing(world.timer, running.done);
  expect(source.acknowledged).toHaveLength(30_000);
  expect(ofKind(world, "ack-failed").length).toBeGreaterThan(1);
});

test("acknowledgements that a source is slow to confirm hold back reads, and the source is not told as down", async () => {
  const world = newWorld();
  const source = new MemorySource(
    Array.from({ length: 30_000 }, (_, index) => index),
    { onAck: () => world.timer.sleep(5000) },
  );
  const vertices = {
    source: { name: "in", source },
    maps: [],
    sink: { name: "out", sink: new MemorySink() },
  };
  const running = await startPipeline({ name: "p", ...vertices }, world.runtime);
  await world.timer.advance(4000);
  const { waiting } = running.state().vertices[0] ?? {};
  expect(waiting?.detail).toBe("for acknowledgements that its source has not confirmed");
  expect(waiting?.isDown).toBeUndefined();
  await passing(world.timer, running.done);
  expect(source.acknowledged).toHaveLength(30_000);
});

test("a source that waits for room after a failed read is told as waiting for room", async () => {
  const world = newWorld();
  let reads = 0;
  const source = new MemorySource([1, 2, 3, 4], {
    isEndless: true,
    onRead: () => {
      if (++reads > 4) throw new Error("connection refused");
    },
  });
  const sink = new MemorySink({ onWrite: () => world.timer.sleep(10_000) });
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source, limits: { readBatchSize: 1 } },
      maps: [],
      sink: { name: "out", sink, limits: { readBatchSize: 1, concurrency: 1 } },
      bufferMax: 4,
    },
    world.runtime,
  );
  const waiting = () => running.state().vertices[0]?.waiting;
  await world.timer.advance(10);
  expect(waiting()).toMatchObject({ isDown: true });
  // A read of 2 messages does not fit beside the three that are in the buffer.
  await running.setLimits("in", { readBatchSize: 2 });
  await world.timer.advance(1000);
  expect(waiting()?.detail).toBe("for room in the buffer of out");
  await passing(world.timer, running.stop());
});
