import type { Reason } from "@sluice/core";
import type { VertexState } from "@sluice/pipeline";
import { expect, test } from "vitest";
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

test("at least one replica is asked for, and at most maxMembers", () => {
  expect(replicasFor([], {})).toBe(1);
  expect(replicasFor([source(1e6)], { replicas: 2, maxMembers: 3 })).toBe(3);
});
