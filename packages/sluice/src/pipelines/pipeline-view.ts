import type { Reason } from "@sluice/core";
import type { PipelineState } from "@sluice/pipeline";
import type { FlowPipeline } from "../flow/pipeline/flow-pipeline.ts";
import type { GateCounts } from "./observe/gate-counts.ts";
import type { PipelineFailure } from "./supervised-pipeline.ts";
import type { VertexLimitSource } from "./vertex-limits.ts";

/** A pipeline that runs, with what its file says. */
export interface PipelineView {
  readonly flow: FlowPipeline;
  readonly state: PipelineState;
  readonly failure: PipelineFailure | undefined;
  readonly limitsOf: (vertex: string) => VertexLimitSource;
  /** Since when a vertex waits, now and again, for one reason; undefined while it flows. */
  readonly throttledOf: (vertex: string) => Throttled | undefined;
  /** Since when requests of a sink wait in its gate for a reason. */
  readonly gateSinceMs: (vertex: string, reason: Reason) => number | undefined;
  /** What the gate of a sink did so far; undefined if it has none. */
  readonly gateCountsOf: (vertex: string) => GateCounts | undefined;
}

/** A vertex that reads in turns with waits is throttled from the first wait to the end of the last. */
export interface Throttled {
  readonly reason: Reason;
  readonly detail: string;
  readonly sinceMs: number;
}
