/** What pipelines do, as metrics of OpenTelemetry. */
import type { BatchObservableResult, Meter, Observable } from "@opentelemetry/api";
import { PIPELINE_METRICS } from "./observe/pipeline-metrics.ts";
import type { PipelineMetric } from "./observe/pipeline-metrics.ts";
import type { RunningPipeline } from "./run/running-pipeline.ts";

export { PIPELINE_METRICS } from "./observe/pipeline-metrics.ts";
export type { PipelineMetric } from "./observe/pipeline-metrics.ts";

/**
 * Reports a pipeline to a meter; answers how to stop. Messages record nothing: the state of the pipeline is read when
 * metrics are collected. Names and attributes are those of `/metrics`; docs/reference/metrics.md has the table. Counters start
 * anew with every start of a pipeline.
 */
export function observeWithOpenTelemetry(
  meter: Meter,
  pipeline: Pick<RunningPipeline, "state">,
): () => void {
  const observed = PIPELINE_METRICS.map((metric) => ({
    metric,
    instrument: instrumentOf(meter, metric),
  }));
  const look = (result: BatchObservableResult): void => {
    const state = pipeline.state();
    for (const { metric, instrument } of observed)
      for (const [labels, value] of metric.samplesOf(state))
        result.observe(instrument, value, labels);
  };
  const instruments = observed.map(({ instrument }) => instrument);
  meter.addBatchObservableCallback(look, instruments);
  return () => meter.removeBatchObservableCallback(look, instruments);
}

function instrumentOf(meter: Meter, { name, help, type }: PipelineMetric): Observable {
  const options = { description: help };
  return type === "counter"
    ? meter.createObservableCounter(name, options)
    : meter.createObservableGauge(name, options);
}
