import type { Reason } from "@sluice/core";
import type { VertexState } from "@sluice/pipeline";
import { expect, test } from "vitest";
import type { PipelineView } from "../pipeline-view.ts";
import { ScaleWatch } from "./scale-watch.ts";
import { replicasFor } from "./scale.ts";

/** A source of 100/s in each of two replicas. */
function source(backlog: number | undefined, reason?: Reason, ceiling?: number): VertexState {
  const counts = { read: 1, written: 1, dropped: 0, failed: 0, retried: 0, deadLettered: 0 };
  return {
    name: "in",
    kind: "source",
    connector: "pulsar",
    perSecond: 100,
    counts,
    queue: backlog,
    inFlight: 0,
    ...(reason !== undefined && { waiting: { reason, detail: "", sinceMs: 0 } }),
    ...(ceiling !== undefined && { fleet: { ceiling } as NonNullable<VertexState["fleet"]> }),
  };
}

const TWO = { replicas: 2 };

test("a backlog asks for more replicas", () => {
  expect(replicasFor([source(8_000)], TWO)).toBe(4);
});

test("while the ceiling is the limit, ramp-up included, no more replicas are asked for", () => {
  expect(replicasFor([source(1e6, undefined, 200)], TWO)).toBe(2);
  expect(replicasFor([source(1e6, "fleet-share", 10_000)], TWO)).toBe(2);
});

test("while the service is the limit, no more replicas are asked for", () => {
  for (const reason of ["concurrency", "peer-busy", "retry-after", "rate"] as const)
    expect(replicasFor([source(1e6), source(0, reason)], TWO)).toBe(2);
});

test("replicas that the rate does not need are removed once the capacity of one is known", () => {
  expect(replicasFor([source(0)], { replicas: 4 })).toBe(4);
  expect(replicasFor([source(0)], { replicas: 4 }, 400)).toBe(2);
  expect(replicasFor([source(1e6)], { replicas: 4 }, 400)).toBeGreaterThanOrEqual(4);
});

test("no more replicas are asked for while a vertex is throttled again and again", () => {
  expect(replicasFor([source(1e6)], { replicas: 2 }, 100, () => "rate")).toBe(2);
  expect(replicasFor([source(1e6)], { replicas: 2 }, 100)).toBeGreaterThan(2);
});

test("at least one replica is asked for, and at most maxMembers", () => {
  expect(replicasFor([], {})).toBe(1);
  expect(replicasFor([source(1e6)], { replicas: 2, maxMembers: 3 })).toBe(3);
});

/** The capacity of one measurement. */
function measured(vertex: VertexState, throttledBy?: Reason): number | undefined {
  const view = {
    flow: { vertices: [], fleet: { replicas: 2 } },
    state: { name: "orders", status: "running", unacknowledged: 0, vertices: [vertex] },
    throttledOf: () => throttledBy && { reason: throttledBy, detail: "", sinceMs: 0 },
  } as unknown as PipelineView;
  const watch = new ScaleWatch(() => [view]);
  watch.measure();
  return watch.capacityOf("orders");
}

test("a replica is measured while it is the bottleneck, and not while a limit or a service is", () => {
  expect(measured(source(1_000))).toBe(100);
  expect(measured(source(0))).toBeUndefined();
  // 150 messages for two replicas are less than each reads in a second.
  expect(measured(source(150))).toBeUndefined();
  expect(measured(source(1_000, "fleet-share"))).toBeUndefined();
  expect(measured(source(1_000), "peer-busy")).toBeUndefined();
  expect(
    measured({ ...source(1_000, undefined, 500), fleet: { usage: 1 } as never }),
  ).toBeUndefined();
});
