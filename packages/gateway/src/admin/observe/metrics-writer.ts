import type { HistogramCounts } from "./histogram.ts";

/** Labels of one series. Metrics of one topic or vertex share one object, so a writer can keep what it makes of it. */
export type Labels = Readonly<Record<string, string>>;

export interface MetricName {
  readonly name: string;
  readonly help: string;
}

/** A counter grows from the start of the process; its name ends with `_total` unless Pulsar has another one. */
export interface Metric extends MetricName {
  readonly type: "gauge" | "counter";
}

/** What metrics are written to. One collection for every format, so names, labels and values cannot differ. */
export interface MetricsWriter {
  add(metric: Metric, samples: Iterable<readonly [labels: Labels, value: number]>): void;
  addHistogram(
    metric: MetricName,
    samples: Iterable<readonly [labels: Labels, counts: HistogramCounts]>,
  ): void;
}

/** Labels of a metric of the whole process. */
export const NO_LABELS: Labels = {};
