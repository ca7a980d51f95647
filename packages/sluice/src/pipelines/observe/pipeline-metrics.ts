import type { MetricsWriter } from "@sluice/gateway/admin";
import { PIPELINE_METRICS } from "@sluice/pipeline/telemetry";
import type { PipelineView } from "../pipeline-view.ts";

/** Metrics of pipelines and vertices. */
export function addPipelineMetrics(
  to: MetricsWriter,
  views: readonly PipelineView[],
  desired: ReadonlyMap<string, number>,
): void {
  for (const metric of PIPELINE_METRICS)
    to.add(
      metric,
      views.flatMap(({ state }) => metric.samplesOf(state)),
    );
  to.add(
    {
      name: "desired_replicas",
      help: "Replicas that the pipeline should have.",
      type: "gauge",
    },
    [...desired].map(([pipeline, count]) => [{ pipeline }, count]),
  );
}
