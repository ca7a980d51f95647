/** Rate limits of vertices, from both sides: never more than the limit, and near it while there is demand. */
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { MemoryStore } from "@sluice/fleet";
import { blackhole, generator, mapFunction, startPipeline } from "@sluice/pipeline";
import type {
  PipelineDefinition,
  PipelineEvent,
  PipelineRuntime,
  RunningPipeline,
  Sink,
  VertexLimits,
} from "@sluice/pipeline";
import { MemorySink, MemorySource } from "@sluice/pipeline/testing";
import fc from "fast-check";
import { expect, test } from "vitest";

type RateLimit = VertexLimits["rateLimit"];

/** Counts messages by time. */
class Counter {
  readonly #timer: VirtualTimer;
  readonly #times: number[] = [];

  constructor(timer: VirtualTimer) {
    this.#timer = timer;
  }

  count(messages = 1): void {
    for (let index = 0; index < messages; index++) this.#times.push(this.#timer.now());
  }

  between(fromMs: number, toMs: number): number {
    return this.#times.filter((atMs) => atMs >= fromMs && atMs < toMs).length;
  }

  /** The most messages of any sliding second. */
  get most(): number {
    let first = 0;
    let most = 0;
    for (const [index, atMs] of this.#times.entries()) {
      while ((this.#times[first] as number) <= atMs - 1000) first++;
      most = Math.max(most, index - first + 1);
    }
    return most;
  }
}

/** An endless pipeline that counts what its vertices read. */
function world({
  map = (value) => value,
  ratePerSecond,
}: {
  readonly map?: (value: number) => number | undefined;
  /** How fast messages come. Default: as fast as they are read. */
  readonly ratePerSecond?: number;
} = {}) {
  const timer = new VirtualTimer();
  const counters = { in: new Counter(timer), map: new Counter(timer), out: new Counter(timer) };
  const events: PipelineEvent[] = [];
  const start = (
    limits: Partial<Record<"in" | "map" | "out", RateLimit>>,
    {
      fleet,
      definition,
      seed = 1,
    }: {
      readonly fleet?: PipelineRuntime["fleet"];
      readonly definition?: Partial<PipelineDefinition>;
      readonly seed?: number;
    } = {},
  ): Promise<RunningPipeline> => {
    const source = generator({ values: (index) => index, ratePerSecond });
    const of = (name: "in" | "map" | "out") => ({ name, limits: { rateLimit: limits[name] } });
    return startPipeline(
      {
        name: "p",
        source: {
          ...of("in"),
          source: {
            ...source,
            open: async (context) => {
              const opened = await source.open(context);
              return {
                read: async (countMax, options) => {
                  const messages = await opened.read(countMax, options);
                  if (Array.isArray(messages)) counters.in.count(messages.length);
                  return messages;
                },
                ack: () => opened.ack([]),
                close: () => opened.close(),
              };
            },
          },
        },
        maps: [
          {
            ...of("map"),
            map: mapFunction<number, number>(({ value }) => {
              counters.map.count();
              const mapped = map(value);
              return mapped === undefined ? undefined : { value: mapped };
            }),
          },
        ],
        sink: {
          ...of("out"),
          sink: new MemorySink({ onWrite: (messages) => counters.out.count(messages.length) }),
        },
        ...definition,
      },
      { timer, random: new SeededRandom(seed), observe: (event) => events.push(event), fleet },
    );
  };
  const stop = async (running: RunningPipeline): Promise<void> => {
    let isStopped = false;
    const stopped = running.stop().finally(() => {
      isStopped = true;
    });
    const isOver = (): boolean => isStopped;
    for (let step = 0; step < 10_000 && !isOver(); step++) await timer.advance(20);
    await stopped;
  };
  return { timer, counters, events, start, stop };
}

test("a sink whose batches take long still reads its limit, and no sliding second more than 1.05 times it", async () => {
  const scene = fc.record({
    max: fc.integer({ min: 40, max: 2000 }),
    concurrency: fc.integer({ min: 1, max: 8 }),
    workMs: fc.integer({ min: 1, max: 900 }),
    jitterMs: fc.integer({ min: 0, max: 100 }),
  });
  await fc.assert(
    fc.asyncProperty(scene, async ({ max, concurrency, workMs, jitterMs }) => {
      const { timer, counters, start, stop } = world();
      const random = new SeededRandom(workMs);
      const onWrite = async (messages: readonly unknown[]): Promise<void> => {
        counters.out.count(messages.length);
        await timer.sleep(workMs + random.next() * jitterMs);
      };
      const sink = { name: "out", sink: new MemorySink({ onWrite }) };
      const limits = { rateLimit: { max }, concurrency, readBatchSize: 2500 };
      const running = await start({}, { definition: { sink: { ...sink, limits } } });
      await timer.advance(12_000);
      expect(counters.out.between(2_000, 12_000)).toBeGreaterThanOrEqual(0.8 * 10 * max);
      expect(counters.out.most).toBeLessThanOrEqual(Math.ceil(1.05 * max));
      await stop(running);
    }),
    { numRuns: 8 },
  );
});

test("a limit that is lowered to a tenth while tokens are saved up is read at once, and goes up again", async () => {
  const { timer, counters, start, stop } = world();
  const onWrite = async (messages: readonly unknown[]): Promise<void> => {
    counters.out.count(messages.length);
    await timer.sleep(800);
  };
  const sink = { name: "out", sink: new MemorySink({ onWrite }) };
  const others = { concurrency: 1, readBatchSize: 2500 };
  const limits = { ...others, rateLimit: { max: 1000 } };
  const running = await start({}, { definition: { sink: { ...sink, limits } } });
  await timer.advance(5_700);
  await running.setLimits("out", { ...others, rateLimit: { max: 100 } });
  await timer.advance(14_300);
  expect(counters.out.between(7_000, 20_000)).toBeGreaterThan(0.8 * 13 * 100);
  expect(counters.out.between(7_000, 20_000)).toBeLessThan(1.1 * 13 * 100);
  await running.setLimits("out", { ...others, rateLimit: { max: 1000 } });
  await timer.advance(10_000);
  expect(counters.out.between(22_000, 30_000)).toBeGreaterThan(0.8 * 8 * 1000);
  await stop(running);
  expect(timer.sleeping).toBe(0);
});

test("each kind of vertex reads its limit, and no sliding second more than 1.05 times it", async () => {
  const limits = fc.integer({ min: 25, max: 3000 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom("in", "map", "out"), limits, async (vertex, max) => {
      const { timer, counters, start, stop } = world();
      const running = await start({ [vertex]: { max, min: max } });
      await timer.advance(4000);
      expect(counters[vertex].most).toBeLessThanOrEqual(Math.ceil(1.05 * max));
      expect(counters[vertex].between(1000, 4000)).toBeGreaterThanOrEqual(0.97 * 3 * max - 1);
      await stop(running);
      expect(timer.sleeping).toBe(0);
    }),
    { numRuns: 8 },
  );
});

test("a limit of a later vertex holds back the source, by buffers that stay within their bounds", async () => {
  const { timer, counters, start, stop } = world();
  const definition = { bufferMax: 40, limits: { readBatchSize: 20 } };
  const running = await start({ out: { max: 100, min: 100 } }, { definition });
  await timer.advance(5000);
  const [source, , sink] = running.state().vertices;
  expect(sink?.queue).toBeLessThanOrEqual(40);
  expect(sink?.queue).toBeGreaterThan(0);
  expect(counters.in.between(0, 5000)).toBeLessThanOrEqual(500 + 2 * 40 + 2 * 20 + 5);
  expect(source?.waiting).toMatchObject({ reason: undefined });
  expect(sink?.waiting).toMatchObject({ reason: "fleet-share", detail: "its limit is 100/s" });
  await stop(running);
});

test("messages that a map drops do not count against its limit", async () => {
  const { timer, counters, start, stop } = world({
    map: (value) => (value % 2 === 0 ? value : undefined),
  });
  const running = await start({ map: { max: 400, min: 400 } });
  await timer.advance(6000);
  const passed = counters.out.between(1000, 6000);
  expect(passed).toBeGreaterThanOrEqual(0.9 * 5 * 400);
  expect(counters.out.most).toBeLessThanOrEqual(1.06 * 400);
  await stop(running);
});

test("tokens that a read did not need are given back", async () => {
  const timer = new VirtualTimer();
  const source = new MemorySource<number>([], { isEndless: true });
  const running = await startPipeline(
    {
      name: "p",
      source: { name: "in", source, limits: { rateLimit: { max: 1000, min: 1000 } } },
      maps: [],
      sink: { name: "out", sink: blackhole() },
    },
    { timer, random: new SeededRandom(1) },
  );
  for (let second = 0; second < 20; second++) {
    source.add(1, 2, 3);
    await timer.advance(1000);
  }
  const [vertex] = running.state().vertices;
  expect(vertex?.counts.read).toBe(60);
  // An idle vertex that kept its tokens would count as one that uses its limit.
  expect(vertex?.fleet?.usage).toBeLessThan(0.05);
  const stopped = running.stop();
  await timer.advance(1000);
  await stopped;
});

test("a throttled vertex is told of once, and once more when it flows again", async () => {
  const { timer, events, start, stop } = world({ ratePerSecond: 500 });
  const running = await start({ map: { max: 100, min: 100 } });
  await timer.advance(5000);
  const told = (): readonly string[] =>
    events.map(({ kind }) => kind).filter((kind) => kind === "throttled" || kind === "flowing");
  expect(told()).toEqual(["throttled"]);
  await running.setLimits("map", { rateLimit: { max: 100_000, min: 100_000 } });
  await timer.advance(4000);
  expect(told()).toEqual(["throttled"]);
  await timer.advance(3000);
  expect(told()).toEqual(["throttled", "flowing"]);
  await stop(running);
});

/** A sink of 100/s with eight writes at once, which tells what it sends. */
function limitedTo100(write: Sink["write"], why: Sink["why"] = () => undefined) {
  const opened = { tellsSent: true, write, why, close: () => Promise.resolve() };
  const sink = { kind: "held", open: () => Promise.resolve(opened) };
  const limits = { rateLimit: { max: 100, min: 100 }, concurrency: 8, readBatchSize: 20 };
  return { definition: { sink: { name: "out", sink, limits } } };
}

/** The reasons for which the sink waits, at 100 instants of 2 s. */
async function reasonsOf(running: RunningPipeline, timer: VirtualTimer): Promise<Set<unknown>> {
  const reasons = new Set<unknown>();
  for (let step = 0; step < 100; step++) {
    await timer.advance(20);
    reasons.add(running.state().vertices.at(-1)?.waiting?.reason);
  }
  return reasons;
}

test.each([
  { name: "hangs", why: undefined },
  { name: "asks for a pause", why: { reason: "retry-after", detail: "for 60 s" } as const },
])("a limited sink whose service $name says so, and does not name the limit", async ({ why }) => {
  const { timer, events, start, stop } = world();
  // After the first stall one batch has the tokens of a second: the limit is used up while other workers are free.
  const first = timer.sleep(3_000);
  const held = limitedTo100(
    (messages, { signal, onSent }) => {
      if (timer.now() >= 3_000) return timer.sleep(Infinity, signal).catch(() => undefined);
      onSent?.(messages.length);
      return first;
    },
    () => why,
  );
  const running = await start({}, held);
  await timer.advance(5_000);
  const told = events.length;
  expect(running.state().vertices.at(-1)?.inFlight).toBeGreaterThan(90);
  expect(await reasonsOf(running, timer)).toEqual(new Set([why?.reason]));
  expect(events.slice(told)).toEqual([]);
  await stop(running);
  expect(timer.sleeping).toBe(0);
});

test("a service that takes half of a sink's limit is named, and not the limit", async () => {
  const { timer, events, start, stop } = world();
  let freeMs = 0;
  const why = { reason: "concurrency", detail: "1 of 1 in flight" } as const;
  const slow = limitedTo100(
    async (messages, { onSent }) => {
      for (const _ of messages) {
        freeMs = Math.max(freeMs, timer.now()) + 20;
        await timer.sleep(freeMs - timer.now());
        onSent?.(1);
      }
    },
    () => why,
  );
  const running = await start({}, slow);
  await timer.advance(10_000);
  expect(await reasonsOf(running, timer)).toEqual(new Set(["concurrency"]));
  const kinds = events.map(({ kind }) => kind).filter((kind) => /throttled|flowing/.test(kind));
  expect(kinds).toEqual(["throttled", "flowing"]);
  await stop(running);
});

test("a sink that sends its limit in parts names the limit", async () => {
  const { timer, events, start, stop } = world();
  const parts = limitedTo100(async (messages, { onSent }) => {
    for (let sent = 0; sent < messages.length; sent += 4) {
      onSent?.(Math.min(4, messages.length - sent));
      await timer.sleep(30);
    }
  });
  const running = await start({}, parts);
  await timer.advance(5_000);
  expect(await reasonsOf(running, timer)).toContain("fleet-share");
  const kinds = events.map(({ kind }) => kind).filter((kind) => /throttled|flowing/.test(kind));
  expect(kinds).toEqual(["throttled"]);
  await stop(running);
});

test("limits change while the pipeline runs: lower, higher, none and back", async () => {
  const { timer, counters, start, stop } = world();
  const running = await start({ in: { max: 500, min: 500 } });
  await timer.advance(3000);
  expect(counters.in.between(2000, 3000)).toBeGreaterThan(480);
  await running.setLimits("in", { rateLimit: { max: 100, min: 100 } });
  await timer.advance(3000);
  expect(counters.in.between(5000, 6000)).toBeGreaterThanOrEqual(97);
  expect(counters.in.between(5000, 6000)).toBeLessThanOrEqual(105);
  await running.setLimits("in", { rateLimit: { max: 1000, min: 1000 } });
  await timer.advance(1000);
  expect(counters.in.between(6000, 7000)).toBeGreaterThan(950);
  await running.setLimits("in", {});
  expect(running.state().vertices[0]?.fleet).toBeUndefined();
  await timer.advance(100);
  expect(counters.in.between(7000, 7100)).toBeGreaterThan(2000);
  await running.setLimits("in", { rateLimit: { max: 100, min: 100 } });
  await timer.advance(2000);
  expect(counters.in.between(8100, 9100)).toBeLessThanOrEqual(105);
  await expect(running.setLimits("nowhere", {})).rejects.toThrow(/it has in, map, out/);
  await expect(running.setLimits("in", { concurrency: 0 })).rejects.toThrow(/concurrency is 0/);
  await stop(running);
});

test("a limit of the pipeline is inherited field by field", async () => {
  const { timer, counters, start, stop } = world();
  const definition = { limits: { rateLimit: { max: 300, min: 300 } } };
  const running = await start({ out: { max: 200, min: 200 } }, { definition });
  await timer.advance(3000);
  const { vertices } = running.state();
  expect(vertices.map(({ fleet }) => fleet?.ceiling)).toEqual([300, 300, 200]);
  expect(counters.out.between(1000, 3000)).toBeGreaterThan(390);
  await stop(running);
});

test("replicas divide a limit where there is no store", async () => {
  const { timer, counters, start, stop } = world();
  const running = await start({ in: { max: 400, min: 400 } }, { fleet: { replicas: 4 } });
  await timer.advance(3000);
  expect(counters.in.between(1000, 3000)).toBeGreaterThan(190);
  expect(counters.in.most).toBeLessThanOrEqual(105);
  await stop(running);
});

test("replicas with a store share one limit, also when one changes it and when one stops", async () => {
  const { timer, counters, start, stop } = world();
  const store = new MemoryStore(timer);
  const fleet = { store, maxMembers: 4 };
  const rateLimit = { max: 600, min: 600 };
  const first = await start({ in: rateLimit }, { fleet, seed: 1 });
  const second = await start({ in: rateLimit }, { fleet, seed: 2 });
  await timer.advance(10_000);
  const before = counters.in.between(8000, 10_000);
  expect(before).toBeGreaterThan(0.9 * 1200);
  expect(counters.in.most).toBeLessThanOrEqual(1.06 * 600);
  await first.setLimits("in", { rateLimit: { max: 200, min: 200 } });
  await timer.advance(5000);
  expect(counters.in.between(12_000, 15_000)).toBeLessThanOrEqual(630);
  expect(counters.in.between(12_000, 15_000)).toBeGreaterThan(540);
  await stop(first);
  await timer.advance(8000);
  const nowMs = timer.now();
  expect(counters.in.between(nowMs - 5000, nowMs)).toBeGreaterThan(900);
  await stop(second);
  expect(timer.sleeping).toBe(0);
});

function ceilingOf(running: RunningPipeline): number | undefined {
  return running.state().vertices[0]?.fleet?.ceiling;
}

test("limits that are taken back leave none in the store: every replica has its own again", async () => {
  const { timer, start, stop } = world();
  const fleet = { store: new MemoryStore(timer), maxMembers: 4 };
  const rateLimit = { max: 600, min: 600 };
  const first = await start({ in: rateLimit }, { fleet, seed: 1 });
  const newer = await start({ in: { max: 300, min: 300 } }, { fleet, seed: 2 });
  await first.setLimits("in", { rateLimit: { max: 200, min: 200 } });
  await timer.advance(5000);
  expect([first, newer].map(ceilingOf)).toEqual([200, 200]);
  await first.setLimits("in", { rateLimit }, { isUnset: true });
  await timer.advance(5000);
  expect([first, newer].map(ceilingOf)).toEqual([600, 300]);
  await stop(first);
  await stop(newer);
});

test("a limit of a vertex that is defined without one holds for all replicas, also for one that starts later, until it is unset", async () => {
  const { timer, counters, start, stop } = world({ ratePerSecond: 1000 });
  const store = new MemoryStore(timer);
  const fleet = { store, maxMembers: 4 };
  const first = await start({}, { fleet, seed: 1 });
  const second = await start({}, { fleet, seed: 2 });
  await timer.advance(3000);
  expect(counters.in.between(1000, 3000)).toBeGreaterThan(3800);
  const set = first.setLimits("in", { rateLimit: { max: 300, min: 300 } });
  await timer.advance(5000);
  await set;
  const third = await start({}, { fleet, seed: 3 });
  await timer.advance(10_000);
  expect([first, second, third].map(ceilingOf)).toEqual([300, 300, 300]);
  // From the second in which all have joined; the third never reads without the limit.
  expect(counters.in.between(8_000, 18_000)).toBeLessThanOrEqual(1.02 * 3000);
  expect(counters.in.between(8_000, 18_000)).toBeGreaterThan(0.85 * 3000);
  // A second change by another replica, a lost store, and back.
  await second.setLimits("in", { rateLimit: { max: 100, min: 100 } });
  await timer.advance(3000);
  expect([first, second, third].map(ceilingOf)).toEqual([100, 100, 100]);
  for (const pool of ["sluice/p/in", "sluice/p/in/announcement"]) store.forget(pool);
  await timer.advance(10_000);
  const fourth = await start({}, { fleet, seed: 4 });
  await timer.advance(1000);
  expect(ceilingOf(fourth)).toBe(100);
  await third.setLimits("in", {}, { isUnset: true });
  await timer.advance(2000);
  const all = [first, second, third, fourth];
  expect(all.map(ceilingOf)).toEqual([undefined, undefined, undefined, undefined]);
  const nowMs = timer.now();
  await timer.advance(2000);
  expect(counters.in.between(nowMs, nowMs + 2000)).toBeGreaterThan(7000);
  for (const each of all) await stop(each);
  expect(timer.sleeping).toBe(0);
});

test("a store that does not answer holds up no vertex without a limit for more than a moment", async () => {
  const { timer, counters, start, stop } = world({ ratePerSecond: 100 });
  const store = new MemoryStore(timer);
  store.sync = () => new Promise(() => {});
  const starting = start({}, { fleet: { store } });
  await timer.advance(2000);
  const running = await starting;
  expect(counters.in.between(0, 2000)).toBeGreaterThan(100);
  await stop(running);
});

test("a redeploy goes on at the level of the ramp with resumedRampUp", async () => {
  const { timer, start, stop } = world();
  const store = new MemoryStore(timer);
  const fleet = { store, maxMembers: 2 };
  const limits = {
    in: { max: 1000, min: 10, rampUpDuration: "20s", resumedRampUp: true, resumeTtl: "600s" },
  };
  const first = await start(limits, { fleet, seed: 1 });
  await timer.advance(15_000);
  const level = first.state().vertices[0]?.fleet?.ceiling ?? 0;
  expect(level).toBeGreaterThan(400);
  await stop(first);
  const second = await start(limits, { fleet, seed: 2 });
  await timer.advance(3000);
  expect(second.state().vertices[0]?.fleet?.ceiling).toBeGreaterThanOrEqual(level);
  await stop(second);
});
