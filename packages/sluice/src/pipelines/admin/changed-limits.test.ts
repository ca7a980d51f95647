import { expect, test } from "vitest";
import { loadFlow } from "../../flow/flow-file.ts";
import type { FlowPipeline } from "../../flow/pipeline/flow-pipeline.ts";
import { changedLimits } from "./changed-limits.ts";

const FLOW = `
pipelines:
  orders:
    limits: { rateLimit: { max: 100, min: 10 } }
    vertices: [{ name: in, source: { generator: {} } }, { name: out, sink: { blackhole: {} } }]
`;

function changed(body: unknown): unknown {
  const flow = loadFlow(FLOW, "flow.yaml").pipelines["orders"] as FlowPipeline;
  const state = { name: "orders", status: "running", unacknowledged: 0, vertices: [] } as const;
  return changedLimits(body, { flow, state, limitsOf: () => ({ limits: {} }) }, "in");
}

test("a max below the inherited min is refused with the change that works", () => {
  expect(() => changed({ max: 5 })).toThrow(
    "max is 5, below the min of 10 that orders/in has already; set both: sluice limits set vertex orders/in max=5 min=5",
  );
  expect(changed({ max: 5, min: 5 })).toEqual({ rateLimit: { max: 5, min: 5 } });
  expect(changed({ max: 10 })).toEqual({ rateLimit: { max: 10 } });
});

test("a max that no limit can have is told as that, and not with a change that does not work either", () => {
  expect(() => changed({ max: 0 })).toThrow("it must be a whole number of at least 1");
});

test("a min above max is told as what was given", () => {
  expect(() => changed({ max: 5, min: 7 })).toThrow("min is 7; it must be at most max, 5");
});
