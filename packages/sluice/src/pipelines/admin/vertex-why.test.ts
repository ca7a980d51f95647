import type { VertexState } from "@sluice/pipeline";
import { expect, test } from "vitest";
import type { PipelineView } from "../flow-pipelines.ts";
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
