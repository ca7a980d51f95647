import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { clearPoolLimits, MemoryStore } from "@sluice/fleet";
import type { PartEvent } from "@sluice/gateway";
import { generator, setVertexLimits, startPipeline } from "@sluice/pipeline";
import type { Source, SourceConnector } from "@sluice/pipeline";
import { expect, onTestFinished, test } from "vitest";
import { loadFlow } from "../flow/flow-file.ts";
import type { Flow } from "../flow/flow.ts";
import { flowConnectors } from "./define/connectors.ts";
import type { Connectors } from "./define/define-pipeline.ts";
import { FlowPipelines } from "./flow-pipelines.ts";
import { GateMeters } from "./observe/gate-meters.ts";

/** Pipelines of a flow file in virtual time; `broken` names the pipelines whose sinks cannot be opened. */
function run(
  text: string,
  broken: ReadonlySet<string> = new Set(),
  others: Partial<Connectors> = {},
  storeOf: (timer: VirtualTimer) => MemoryStore | undefined = () => undefined,
) {
  const timer = new VirtualTimer();
  const told: PartEvent[] = [];
  const gates = new GateMeters((event) => told.push(event));
  const real = flowConnectors({
    folder: "/",
    gatewayUrl: undefined,
    gates,
    secrets: () => Promise.resolve([]),
  });
  const connectors: Connectors = {
    ...real,
    sink: async (block, vertex) => {
      if (broken.has(vertex)) throw new Error("the disk is full");
      return real.sink(block, vertex);
    },
    ...others,
  };
  const pipelines = new FlowPipelines("shop", storeOf(timer), {
    start: startPipeline,
    connectors,
    gates,
    timer,
    wallClock: timer,
    random: new SeededRandom(1),
    tell: (event) => told.push(event),
  });
  pipelines.start(flow(text).pipelines);
  onTestFinished(async () => {
    const stopped = pipelines.stop();
    await timer.advance(20_000);
    await stopped;
    expect(timer.sleeping).toBe(0);
  });
  return {
    pipelines,
    timer,
    kinds: () => told.map(({ kind }) => kind),
    told,
    /** Waits for a change while time passes. */
    during: async (change: Promise<unknown>, ms: number): Promise<void> => {
      await timer.advance(ms);
      await change;
    },
  };
}

/** A store that also lists the limits that are set in it. */
function recordingStore(timer: VirtualTimer, stored: string[]): MemoryStore {
  const store = new MemoryStore(timer);
  const setLimits = store.setLimits.bind(store);
  store.setLimits = (pool, limits) => {
    stored.push(limits);
    return setLimits(pool, limits);
  };
  return store;
}

/** A promise that a test resolves. */
class Deferred<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => {};

  constructor() {
    this.promise = new Promise((resolve) => {
      this.resolve = resolve;
    });
  }
}

function flow(text: string): Flow {
  return loadFlow(text, "flow.yaml");
}

const TWO = `
pipelines:
  a:
    limits: { rateLimit: { max: 10, min: 10 } }
    vertices: [{ name: in, source: { generator: { rate: 100/s } } }, { name: out, sink: { blackhole: {} } }]
  b:
    vertices: [{ name: in, source: { generator: { rate: 5/s } } }, { name: out, sink: { blackhole: {} } }]
`;

function statuses(pipelines: FlowPipelines): readonly string[] {
  return pipelines.views().map(({ state }) => `${state.name} ${state.status}`);
}

test("a pipeline that fails is told, is not ready, and starts again with backoff while the others run", async () => {
  const broken = new Set(["a/out"]);
  const { pipelines, timer, told } = run(TWO, broken);
  await timer.advance(500);
  expect(statuses(pipelines)).toEqual(["a failed", "b running"]);
  expect(pipelines.notReady()).toMatch(
    /^pipeline a failed: the disk is full; next start in \d+ ms$/,
  );
  await timer.advance(20_000);
  const failures = told.filter(({ kind }) => kind === "pipeline-failed");
  // After 0, 1, 3, 7 and 15 s at the latest, after half of that at the earliest.
  expect(failures.length).toBeGreaterThanOrEqual(5);
  expect(failures.length).toBeLessThanOrEqual(7);
  broken.clear();
  await timer.advance(20_000);
  expect(statuses(pipelines)).toEqual(["a running", "b running"]);
  expect(pipelines.notReady()).toBeUndefined();
});

test("new limits of a file hold at once, without a restart", async () => {
  const { pipelines, timer, kinds } = run(TWO);
  await timer.advance(5_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(10, -0.5);
  const reloaded = pipelines.reload(flow(TWO.replace("max: 10", "max: 50")).pipelines);
  await timer.advance(5_000);
  expect(await reloaded).toEqual({
    limits: ["a/in", "a/out"],
    restarted: [],
    started: [],
    stopped: [],
  });
  await timer.advance(10_000);
  expect(rateOf(pipelines, "a")).toBeGreaterThan(40);
  expect(kinds().filter((kind) => kind === "pipeline-started")).toHaveLength(2);
});

test("a changed connector restarts its own pipeline only; new ones start and missing ones stop", async () => {
  const { pipelines, timer, told } = run(TWO);
  await timer.advance(1_000);
  const changed = TWO.replace("rate: 100/s", "rate: 90/s").replace("  b:", "  c:");
  const reloaded = pipelines.reload(flow(changed).pipelines);
  await timer.advance(15_000);
  expect(await reloaded).toEqual({ limits: [], restarted: ["a"], started: ["c"], stopped: ["b"] });
  expect(statuses(pipelines)).toEqual(["a running", "c running"]);
  const started = told.filter(({ kind }) => kind === "pipeline-started");
  expect(started.map(({ subject }) => subject).toSorted()).toEqual(["a", "a", "b", "c"]);
});

test("a limit that is removed from the file limits no more", async () => {
  const { pipelines, timer } = run(TWO);
  await timer.advance(2_000);
  const unlimited = TWO.replace("    limits: { rateLimit: { max: 10, min: 10 } }\n", "");
  const reloaded = pipelines.reload(flow(unlimited).pipelines);
  await timer.advance(15_000);
  expect(await reloaded).toMatchObject({ restarted: ["a"] });
  expect(rateOf(pipelines, "a")).toBeGreaterThan(80);
});

test("limits that are set while a pipeline runs hold until they are unset", async () => {
  const { pipelines, timer } = run(TWO);
  await timer.advance(2_000);
  const set = pipelines.setLimits("a", "in", { rateLimit: { max: 30 } });
  await timer.advance(10_000);
  await set;
  const [view] = pipelines.views();
  expect(view?.limitsOf("in")).toMatchObject({ limits: { rateLimit: { max: 30 } } });
  const unset = pipelines.setLimits("a", "in", undefined);
  await timer.advance(10_000);
  await unset;
  expect(pipelines.views()[0]?.limitsOf("in")).toEqual({ limits: {} });
  expect(rateOf(pipelines, "a")).toBeCloseTo(10, -0.5);
});

test.each([
  [{ concurrency: 1_000_000 }, /out.limits.concurrency is 1000000/],
  [{ readBatchSize: 1_000_000 }, /out.limits.readBatchSize is 1000000/],
  [{ rateLimit: { max: 0 } }, /max/],
])("limits %j are refused while a pipeline is down, as while it runs", async (limits, why) => {
  const broken = new Set(["a/out"]);
  const { pipelines, timer } = run(TWO, broken);
  await timer.advance(10);
  await expect(pipelines.setLimits("a", "out", limits)).rejects.toThrow(why);
  await expect(pipelines.setLimits("b", "out", limits)).rejects.toThrow(why);
  broken.clear();
  await timer.advance(2_000);
  expect(pipelines.views().map(({ state }) => state.status)).toEqual(["running", "running"]);
});

test("a reload that fails leaves every pipeline as it was", async () => {
  const broken = new Set<string>();
  const { pipelines, timer, kinds } = run(TWO, broken);
  await timer.advance(1_000);
  broken.add("b/out");
  const changed = TWO.replace("max: 10", "max: 50").replace("rate: 5/s", "rate: 6/s");
  const reloaded = pipelines.reload(flow(changed).pipelines);
  await expect(reloaded).rejects.toThrow("the disk is full");
  await timer.advance(5_000);
  expect(statuses(pipelines)).toEqual(["a running", "b running"]);
  expect(pipelines.views()[0]?.flow.limits?.rateLimit?.max).toBe(10);
  expect(rateOf(pipelines, "a")).toBeCloseTo(10, -0.5);
  expect(kinds().filter((kind) => kind === "pipeline-draining")).toEqual([]);
});

test("unset removes the limits of a vertex from the store", async () => {
  const stored: string[] = [];
  const { pipelines, timer } = run(TWO, new Set(), {}, (clock) => recordingStore(clock, stored));
  await timer.advance(2_000);
  const change = async (limits: { readonly rateLimit: { readonly max: number } } | undefined) => {
    const changed = pipelines.setLimits("a", "in", limits);
    await timer.advance(1_000);
    await changed;
  };
  await change({ rateLimit: { max: 30 } });
  await change(undefined);
  expect(stored).toEqual([JSON.stringify({ max: 30, min: 10 }), ""]);
});

test("limits that are set and unset while a pipeline is down reach the other replicas, and hold after its start", async () => {
  const stored: string[] = [];
  const broken = new Set(["a/out"]);
  const { pipelines, timer } = run(TWO, broken, {}, (clock) => recordingStore(clock, stored));
  await timer.advance(500);
  expect(statuses(pipelines)).toEqual(["a failed", "b running"]);
  expect(await pipelines.setLimits("a", "in", undefined)).toBe("at its next start");
  expect(await pipelines.setLimits("a", "in", { rateLimit: { max: 30 } })).toBe(
    "at its next start",
  );
  expect(stored).toEqual(["", JSON.stringify({ max: 30, min: 10 })]);
  broken.clear();
  await timer.advance(20_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(30, -0.5);
  // The start itself has not written: another replica may have set another limit since.
  expect(stored).toHaveLength(2);
});

test("a limit of a vertex without one in the file, set while its pipeline is down, is found in the store at the start", async () => {
  const broken = new Set(["b/out"]);
  const { pipelines, timer } = run(TWO, broken, {}, (clock) => new MemoryStore(clock));
  await timer.advance(500);
  const limits = { rateLimit: { max: 2, min: 2 } };
  expect(await pipelines.setLimits("b", "in", limits)).toBe("at its next start");
  broken.clear();
  await timer.advance(20_000);
  expect(rateOf(pipelines, "b")).toBeCloseTo(2, -0.5);
  const counts = pipelines.setLimits("b", "in", { concurrency: 1 });
  await timer.advance(5_000);
  await counts;
  expect(rateOf(pipelines, "b")).toBeCloseTo(2, -0.5);
  const unset = pipelines.setLimits("b", "in", undefined);
  await timer.advance(10_000);
  await unset;
  expect(rateOf(pipelines, "b")).toBeCloseTo(5, -0.5);
});

test("a limit that a file changes is gone from the store: later files, and an unset, are not held by it", async () => {
  const stored: string[] = [];
  const { pipelines, timer, during } = run(TWO, new Set(), {}, (clock) =>
    recordingStore(clock, stored),
  );
  await timer.advance(2_000);
  await during(pipelines.reload(flow(TWO.replace("max: 10", "max: 50")).pipelines), 20_000);
  expect(stored).toEqual([]);
  expect(rateOf(pipelines, "a")).toBeGreaterThan(40);
  await during(pipelines.setLimits("a", "in", { rateLimit: { max: 20 } }), 10_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(20, -0.5);
  await during(pipelines.setLimits("a", "in", undefined), 20_000);
  expect(rateOf(pipelines, "a")).toBeGreaterThan(40);
});

test("a limit that was set before a restart of the pipeline can still be unset, here and by another replica", async () => {
  const stores: MemoryStore[] = [];
  const storeOf = (clock: VirtualTimer): MemoryStore => {
    const store = new MemoryStore(clock);
    stores.push(store);
    return store;
  };
  const { pipelines, timer, during } = run(TWO, new Set(), {}, storeOf);
  const [store] = stores as [MemoryStore];
  await timer.advance(2_000);
  const set = () => during(pipelines.setLimits("a", "in", { rateLimit: { max: 30 } }), 1_000);
  await set();
  await during(pipelines.restart(["a"]), 20_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(30, -0.5);
  await during(pipelines.setLimits("a", "in", undefined), 10_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(10, -0.5);
  await set();
  await during(pipelines.restart(["a"]), 20_000);
  await during(clearPoolLimits(store, "shop/a/in"), 10_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(10, -0.5);
  expect(pipelines.views()[0]?.limitsOf("in")).toEqual({ limits: {} });
});

test("a limit that was set holds after its pipeline was down for longer than the store remembers it", async () => {
  const broken = new Set<string>();
  const { pipelines, timer, during } = run(TWO, broken, {}, (clock) => new MemoryStore(clock));
  await timer.advance(2_000);
  await during(pipelines.setLimits("a", "in", { rateLimit: { max: 30 } }), 5_000);
  broken.add("a/out");
  await during(pipelines.restart(["a"]), 20_000);
  expect(statuses(pipelines)).toEqual(["a failed", "b running"]);
  broken.clear();
  await timer.advance(20_000);
  expect(rateOf(pipelines, "a")).toBeCloseTo(30, -0.5);
});

test("limits that another replica has set are those that are told here", async () => {
  const stores: MemoryStore[] = [];
  const { pipelines, timer, during } = run(TWO, new Set(), {}, (clock) => {
    const store = new MemoryStore(clock);
    stores.push(store);
    return store;
  });
  const [store] = stores as [MemoryStore];
  await timer.advance(2_000);
  const set = setVertexLimits(store, { flow: "shop", pipeline: "a", vertex: "in" }, { max: 40 });
  await during(set, 2_000);
  const told = () => pipelines.views()[0]?.limitsOf("in");
  expect(told()).toEqual({
    limits: { rateLimit: { max: 40, min: 1, rampUpDuration: "1s" } },
    setAtMs: await set,
  });
  await during(pipelines.setLimits("a", "in", { rateLimit: { max: 20 } }), 0);
  // Before the next sync of the pool, too.
  expect(told()).toMatchObject({ limits: { rateLimit: { max: 20 } } });
});

test.each([
  ["the pipeline", TWO],
  [
    "the vertex",
    TWO.replace("    limits: { rateLimit: { max: 10, min: 10 } }\n", "").replace(
      "{ name: in, source: { generator: { rate: 100/s } } }",
      "{ name: in, limits: { rateLimit: { max: 10, min: 10 } }, source: { generator: { rate: 100/s } } }",
    ),
  ],
])(
  "a new concurrency leaves the rate limit that the file gives to %s to later files",
  async (_, text) => {
    const stored: string[] = [];
    const { pipelines, timer, during } = run(text, new Set(), {}, (clock) =>
      recordingStore(clock, stored),
    );
    await timer.advance(2_000);
    const { rateLimit } = pipelines.views()[0]?.limitsOf("in").limits ?? {};
    const change = { concurrency: 4, ...(rateLimit !== undefined && { rateLimit }) };
    await during(pipelines.setLimits("a", "in", change), 1_000);
    expect(stored).toEqual([]);
    expect(pipelines.views()[0]?.limitsOf("in").limits).toEqual(change);
    // Another rate of the generator makes it a restart, after which the concurrency stays.
    const changed = text.replace("max: 10", "max: 50").replace("rate: 100/s", "rate: 90/s");
    await during(pipelines.reload(flow(changed).pipelines), 30_000);
    expect(rateOf(pipelines, "a")).toBeGreaterThan(40);
    expect(pipelines.views()[0]?.limitsOf("in").limits).toMatchObject({ concurrency: 4 });
    expect(stored).toEqual([]);
  },
);

test("a new concurrency keeps a rate limit that was set before, here or by another replica", async () => {
  const stored: string[] = [];
  const stores: MemoryStore[] = [];
  const { pipelines, timer, during } = run(TWO, new Set(), {}, (clock) => {
    const store = recordingStore(clock, stored);
    stores.push(store);
    return store;
  });
  const [store] = stores as [MemoryStore];
  const told = () => pipelines.views()[0]?.limitsOf("in").limits;
  const setConcurrency = (concurrency: number) =>
    during(pipelines.setLimits("a", "in", { ...told(), concurrency }), 2_000);
  const maxOfPool = () => pipelines.views()[0]?.state.vertices[0]?.fleet?.bounds?.max;
  await timer.advance(2_000);
  await during(pipelines.setLimits("a", "in", { rateLimit: { max: 30 } }), 2_000);
  await setConcurrency(4);
  expect(told()).toEqual({ concurrency: 4, rateLimit: { max: 30 } });
  expect(maxOfPool()).toBe(30);
  const pool = { flow: "shop", pipeline: "a", vertex: "in" };
  await during(setVertexLimits(store, pool, { max: 40, min: 40 }), 2_000);
  await setConcurrency(5);
  expect(told()).toMatchObject({ concurrency: 5, rateLimit: { max: 40 } });
  expect(maxOfPool()).toBe(40);
  expect(stored).toHaveLength(2);
  await during(clearPoolLimits(store, "shop/a/in"), 10_000);
  expect(told()).toEqual({ concurrency: 5 });
  expect(maxOfPool()).toBe(10);
});

test("a reload that fails half-way sets back the limits that another replica has set", async () => {
  const stores: MemoryStore[] = [];
  let isRefused = false;
  const { pipelines, timer, during } = run(TWO, new Set(), {}, (clock) => {
    const store = new MemoryStore(clock);
    stores.push(store);
    const setLimits = store.setLimits.bind(store);
    store.setLimits = (pool, limits) =>
      isRefused && pool === "shop/a/out" && limits === ""
        ? Promise.reject(new Error("the store is read-only"))
        : setLimits(pool, limits);
    return store;
  });
  const [store] = stores as [MemoryStore];
  await timer.advance(2_000);
  for (const vertex of ["in", "out"]) {
    const pool = { flow: "shop", pipeline: "a", vertex };
    await during(setVertexLimits(store, pool, { max: 40, min: 40 }), 2_000);
  }
  isRefused = true;
  const reloaded = pipelines.reload(flow(TWO.replace("max: 10", "max: 50")).pipelines);
  await expect(reloaded).rejects.toThrow("the store is read-only");
  await timer.advance(5_000);
  expect(pipelines.views()[0]?.limitsOf("in")).toMatchObject({
    limits: { rateLimit: { max: 40 } },
  });
  expect(rateOf(pipelines, "a")).toBeCloseTo(40, -0.5);
});

test("a file that contradicts a limit which was set while the pipeline ran is refused whole, with the way out", async () => {
  const { pipelines, timer, during, kinds } = run(TWO);
  await timer.advance(1_000);
  await during(pipelines.setLimits("a", "in", { rateLimit: { max: 12 } }), 1_000);
  const changed = TWO.replace("max: 10, min: 10", "max: 50, min: 15")
    .replace("rate: 100/s", "rate: 90/s")
    .replace("rate: 5/s", "rate: 6/s");
  await expect(pipelines.reload(flow(changed).pipelines)).rejects.toThrow(
    /limits of vertex a\/in that were set while it ran do not fit the new file: .*; take them back with sluice limits unset vertex a\/in/s,
  );
  expect(kinds().filter((kind) => kind === "pipeline-draining")).toEqual([]);
  expect(pipelines.views().map((view) => view.flow)).toEqual(Object.values(flow(TWO).pipelines));
});

test("a pipeline that is down shows no rate, no share and no wait of its last run", async () => {
  const { pipelines, timer, during } = run(TWO);
  await timer.advance(5_000);
  await during(pipelines.stop(), 20_000);
  const [view] = pipelines.views();
  expect(view?.state.vertices[0]?.counts.read).toBeGreaterThan(0);
  const rest = { perSecond: 0, inFlight: 0, counts: expect.anything() as unknown };
  expect(view?.state.vertices).toEqual([
    { name: "in", kind: "source", connector: "generator", ...rest },
    { name: "out", kind: "sink", connector: "blackhole", ...rest },
  ]);
});

test("gates of a pipeline that a new file does not have are in no metric", async () => {
  const http = "{ http: { url: http://127.0.0.1:9/ } }";
  const { pipelines, timer, during } = run(TWO.replace("{ blackhole: {} }", http));
  await timer.advance(1_000);
  expect(pipelines.gates.countsOf("a/out")).toBeDefined();
  await during(pipelines.reload(flow(TWO).pipelines), 20_000);
  expect(pipelines.gates.countsOf("a/out")).toBeDefined();
  await during(pipelines.reload(flow(TWO.replace("  a:", "  c:")).pipelines), 20_000);
  expect(pipelines.gates.countsOf("a/out")).toBeUndefined();
});

test("a pipeline at the end of its source has stopped, and is no failure", async () => {
  const { pipelines, timer } = run(TWO.replace("rate: 5/s", "count: 7"));
  await timer.advance(2_000);
  expect(statuses(pipelines)).toEqual(["a running", "b stopped"]);
  expect(pipelines.notReady()).toBeUndefined();
});

test("a reload that restarts a pipeline does not count as its end", async () => {
  const { pipelines, timer } = run(TWO);
  let isEnded = false;
  void pipelines.ended().then(() => (isEnded = true));
  await timer.advance(1_000);
  const changed = TWO.replace("rate: 100/s", "rate: 90/s").replace("rate: 5/s", "rate: 6/s");
  const reloaded = pipelines.reload(flow(changed).pipelines);
  await timer.advance(15_000);
  expect(await reloaded).toMatchObject({ restarted: ["a", "b"] });
  expect(isEnded).toBe(false);
  const last = pipelines.reload(flow(changed.replaceAll(/rate: \d\/s/g, "count: 7")).pipelines);
  await timer.advance(15_000);
  await last;
  expect(statuses(pipelines)).toEqual(["a running", "b stopped"]);
  expect(isEnded).toBe(false);
});

test("a live limit of a vertex that a new file does not have keeps no pipeline from its start", async () => {
  const { pipelines, timer } = run(
    TWO.replace(
      "name: in, source: { generator: { rate: 100/s",
      "name: first, source: { generator: { rate: 100/s",
    ),
  );
  await timer.advance(1_000);
  const set = pipelines.setLimits("a", "first", { rateLimit: { max: 30 } });
  await timer.advance(1_000);
  await set;
  const reloaded = pipelines.reload(flow(TWO).pipelines);
  await timer.advance(15_000);
  expect(await reloaded).toMatchObject({ restarted: ["a"] });
  expect(statuses(pipelines)).toEqual(["a running", "b running"]);
});

test("a stop gives up a start that is under way", async () => {
  const source: SourceConnector = {
    kind: "slow",
    open: ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      }),
  };
  const { pipelines, timer } = run(TWO, new Set(), { source: () => Promise.resolve(source) });
  await timer.advance(1_000);
  let isStopped = false;
  const stopped = pipelines.stop().then(() => (isStopped = true));
  await timer.advance(1);
  expect(isStopped).toBe(true);
  await stopped;
  expect(statuses(pipelines)).toEqual(["a stopped", "b stopped"]);
});

test("a stop does not wait for a client library that goes on connecting, and what it opens late is closed", async () => {
  const late = new Deferred<Source>();
  let isClosed = false;
  const source: SourceConnector = { kind: "deaf", open: () => late.promise };
  const { pipelines, timer } = run(TWO, new Set(), { source: () => Promise.resolve(source) });
  await timer.advance(1_000);
  expect(pipelines.notReady()).toBe("pipeline a starts: in connects (generator)");
  const stopped = pipelines.stop();
  await timer.advance(1);
  await stopped;
  late.resolve({
    read: () => Promise.resolve([]),
    ack: () => Promise.resolve(),
    close: () => {
      isClosed = true;
      return Promise.resolve();
    },
  });
  await timer.advance(1);
  expect(isClosed).toBe(true);
});

test("a stop during a reload drains all pipelines at once, and starts none again", async () => {
  const slow = TWO.replaceAll("vertices: [", "drain: 10s\n    vertices: [").replaceAll(
    "blackhole: {} } }]",
    "blackhole: {} }, limits: { rateLimit: { max: 1, min: 1 } } }]",
  );
  const { pipelines, timer, kinds } = run(slow);
  await timer.advance(2_000);
  const next = flow(
    slow.replaceAll("rate: 100/s", "rate: 99/s").replaceAll("rate: 5/s", "rate: 4/s"),
  );
  const reloaded = pipelines.reload(next.pipelines);
  await timer.advance(500);
  const stopped = pipelines.stop();
  // The drain and its grace: one after the other they would take twice as long.
  await timer.advance(12_000);
  await Promise.all([reloaded, stopped]);
  expect(statuses(pipelines)).toEqual(["a stopped", "b stopped"]);
  expect(kinds().filter((kind) => kind === "pipeline-started")).toHaveLength(2);
});

test("all pipelines have begun when the last one has connected", async () => {
  const connected = new Deferred<void>();
  const { pipelines, timer } = run(TWO, new Set(), {
    source: async () => {
      await connected.promise;
      return generator({ values: [1], count: 9e9, ratePerSecond: 1 });
    },
  });
  let isReady = false;
  void pipelines.begun().then(() => (isReady = true));
  await timer.advance(5_000);
  expect([isReady, pipelines.notReady()]).toEqual([
    false,
    "pipeline a starts: its connectors are made",
  ]);
  connected.resolve();
  await timer.advance(100);
  expect([isReady, pipelines.notReady()]).toEqual([true, undefined]);
});

test("a pipeline that fails while it drains does not keep the others from their drain", async () => {
  const tooMany: SourceConnector = {
    kind: "too many",
    open: () =>
      Promise.resolve({
        read: async (countMax, { signal }) => {
          if (!signal.aborted)
            await new Promise((resolve) =>
              signal.addEventListener("abort", resolve, { once: true }),
            );
          return Array.from({ length: countMax + 1 }, (_, n) => ({
            id: `${n}`,
            value: n,
            headers: {},
          }));
        },
        ack: () => Promise.resolve(),
        close: () => Promise.resolve(),
      }),
  };
  const { pipelines, timer, told } = run(TWO, new Set(), {
    source: () => Promise.resolve(tooMany),
  });
  await timer.advance(1_000);
  const stopped = pipelines.stop();
  await timer.advance(20_000);
  await expect(stopped).resolves.toBeUndefined();
  const failed = told.filter(({ kind }) => kind === "pipeline-failed");
  expect(failed.map(({ text }) => text).toSorted()).toEqual(
    ["a", "b"].map((name): unknown =>
      expect.stringMatching(`^pipeline ${name} failed while it drained: a source answered`),
    ),
  );
});

function rateOf(pipelines: FlowPipelines, name: string): number {
  const view = pipelines.views().find(({ state }) => state.name === name);
  return view?.state.vertices[0]?.perSecond ?? 0;
}
