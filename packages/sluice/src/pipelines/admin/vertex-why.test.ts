import type { VertexState } from "@sluice/pipeline";
import { expect, test } from "vitest";
import type { PipelineView } from "../pipeline-view.ts";
import { workingSentence, workingUntil } from "../../why/vertex-sentences.ts";
import { isKnownName, knownNames } from "./known-names.ts";
import { pipelinesWhy } from "./vertex-why.ts";

const COUNTS = { read: 9, written: 9, dropped: 0, failed: 0, retried: 0, deadLettered: 0 };

function whyAt(perSecond: number): readonly string[] {
  const out: VertexState = {
    name: "out",
    kind: "sink",
    connector: "blackhole",
    perSecond,
    counts: COUNTS,
    queue: 0,
    inFlight: 0,
  };
  const view = {
    flow: { vertices: [{ name: "out", sink: { kind: "blackhole", options: {} } }] },
    state: { name: "orders", status: "running", unacknowledged: 0, vertices: [out] },
    throttledOf: () => ({ reason: "fleet-share", detail: "its limit is 10/s", sinceMs: 0 }),
    gateSinceMs: () => undefined,
    gateCountsOf: () => undefined,
    limitsOf: () => ({ limits: {} }),
  } as unknown as PipelineView;
  const input = { views: [view], nowMs: 9_000, wallMs: 9_000, placeOf: () => undefined };
  return pipelinesWhy(input, undefined).vertices.map(({ vertex }) => vertex);
}

test("a vertex that reads in turns with waits is throttled", () => {
  expect(whyAt(10)).toEqual(["out"]);
});

test("a vertex that has nothing to read is not throttled by its last wait", () => {
  expect(whyAt(0)).toEqual([]);
});

interface Scene {
  readonly out?: Partial<VertexState>;
  readonly map?: Partial<VertexState>;
  /** `request:` and `name:` of the sink. */
  readonly request?: object;
  readonly service?: string;
}

/** A pipeline with a map and an HTTP sink, 60 s after its start; nothing waits unless it is said. */
function scene({ out = {}, map = {}, request, service }: Scene) {
  const idle = { perSecond: 0, counts: COUNTS, queue: 0, inFlight: 0 };
  const vertices: readonly VertexState[] = [
    { name: "enrich", kind: "map", connector: "module", ...idle, ...map },
    { name: "out", kind: "sink", connector: "http", ...idle, ...out },
  ];
  const url = "http://127.0.0.1:9000/pay?key=1";
  const sink = { kind: "http", options: { url, request, name: service } };
  const view = {
    flow: {
      vertices: [
        { name: "enrich", map: { kind: "module", options: {} } },
        { name: "out", sink },
      ],
    },
    state: { name: "orders", status: "running", unacknowledged: 0, vertices },
    throttledOf: () => undefined,
    gateSinceMs: () => undefined,
    gateCountsOf: () => undefined,
    limitsOf: () => ({ limits: {} }),
  } as unknown as PipelineView;
  const input = { views: [view], nowMs: 60_000, wallMs: 60_000, placeOf: () => undefined };
  return { view, whyOf: (name?: string) => pipelinesWhy(input, name) };
}

test("a map that has worked on one message for 12 s is told, with what is left of its time limit", () => {
  const work = { sinceMs: 48_000, messages: 1 };
  const [why, ...others] = scene({ map: { work } }).whyOf().working;
  expect(others).toEqual([]);
  expect(why).toMatchObject({
    vertex: "enrich",
    messages: 1,
    forMs: 12_000,
    untilInMs: 18_000,
    setting: { path: "pipelines.orders.vertices.enrich.map.timeout", value: "30 s" },
  });
});

test("work of less than five seconds, and work that waits for a reason, is not told as hanging", () => {
  expect(scene({ map: { work: { sinceMs: 56_000, messages: 1 } } }).whyOf().working).toEqual([]);
  const waiting = { reason: "concurrency", detail: "", sinceMs: 0 } as const;
  const { working, vertices } = scene({
    out: { work: { sinceMs: 0, messages: 1 }, waiting },
  }).whyOf();
  expect([working.length, vertices.length]).toEqual([0, 1]);
});

test("a map whose program cannot be started is told at once, and stands behind nothing", () => {
  const detail = "for python3, which exited with code 2 before it answered anything";
  const down = { reason: undefined, detail, sinceMs: 59_000, untilMs: 62_000, isDown: true };
  const busy = { reason: "concurrency", detail: "", sinceMs: 0 } as const;
  const { working, vertices } = scene({
    map: { work: { sinceMs: 58_000, messages: 3 }, waiting: down },
    out: { waiting: busy },
  }).whyOf();
  expect(working).toMatchObject([
    { vertex: "enrich", messages: 3, waitsFor: detail, forMs: 1_000, untilInMs: 2_000 },
  ]);
  expect(vertices.map(({ vertex, behind }) => [vertex, behind])).toEqual([["out", []]]);
});

test("a source that cannot be read is told, without a batch, and stands behind nothing", () => {
  const detail = "for its source, which cannot be read: connect ECONNREFUSED";
  const down = { reason: undefined, detail, sinceMs: 50_000, untilMs: 62_000, isDown: true };
  // Of a source the view has no batch.
  const { working } = scene({ map: { kind: "source", waiting: down } }).whyOf();
  expect(working).toMatchObject([
    { role: "source", messages: 0, waitsFor: detail, forMs: 10_000, untilInMs: 2_000 },
  ]);
  const [why] = working;
  expect(why && [workingSentence(why), workingUntil(why)]).toEqual([
    "enrich has waited for 10 s, for its source, which cannot be read: connect ECONNREFUSED.",
    "a read succeeds; the next one is tried in 2.0 s",
  ]);
});

test.each([
  [{ rate: "5/s" }, "request.rate", "5/s"],
  [{ rates: { tokens: "5/s" } }, "request.rates", { tokens: "5/s" }],
])("the setting behind a wait for a rate is the key of the file: %j", (request, key, value) => {
  const waiting = { reason: "rate", detail: "", sinceMs: 0 } as const;
  const [why] = scene({ out: { waiting }, request }).whyOf().vertices;
  expect(why?.setting).toMatchObject({
    path: `pipelines.orders.vertices.out.sink.http.${key}`,
    value,
  });
});

test.each([
  "out",
  "orders/out",
  "127.0.0.1:9000",
  "http://127.0.0.1:9000/pay",
  "orders/out to 127.0.0.1:9000",
])("a gate is known by %s", (name) => {
  const waiting = { reason: "concurrency", detail: "", sinceMs: 0 } as const;
  const { view, whyOf } = scene({ out: { waiting } });
  expect(isKnownName([view], name)).toBe(true);
  expect(whyOf(name).vertices.map(({ vertex }) => vertex)).toEqual(["out"]);
});

test.each(["payments", "orders/out to payments", "127.0.0.1:9000", "http://127.0.0.1:9000/pay"])(
  "a gate whose service has a name is known by %s, and its sentences have that name",
  (name) => {
    const waiting = { reason: "concurrency", detail: "", sinceMs: 0 } as const;
    const gate = { inFlight: 1, waiting: 1 };
    const { view, whyOf } = scene({ out: { waiting, gate }, service: "payments" });
    expect(knownNames([view])).toContain("payments");
    expect(whyOf(name).vertices.map((why) => why.gate?.service)).toEqual(["payments"]);
  },
);

test("a name that nothing has is not known, and the known names are listed", () => {
  const { view } = scene({});
  expect(isKnownName([view], "TYPO")).toBe(false);
  expect(knownNames([view])).toEqual(["orders", "orders/enrich", "orders/out", "127.0.0.1:9000"]);
});
