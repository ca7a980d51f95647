import type {
  HistogramCounts,
  Labels,
  Metric,
  MetricName,
  MetricsWriter,
} from "@sluice/gateway/admin";

/** What the metrics of one export have in common. Times are nanoseconds since 1970, as decimal text. */
export interface OtlpFrame {
  readonly resource: Labels;
  readonly scope: { readonly name: string; readonly version: string };
  readonly startTimeUnixNano: string;
  readonly timeUnixNano: string;
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}

/** `AGGREGATION_TEMPORALITY_CUMULATIVE`: an export that is lost is made up for by the next one. */
const CUMULATIVE = 2;

/**
 * Metrics as the body of an OTLP/HTTP export in JSON. Names and labels are those of Prometheus' text. No metric has a
 * unit: receivers append it to the name, which would then differ from `/metrics`.
 */
export class OtlpMetrics implements MetricsWriter {
  readonly #frame: OtlpFrame;
  readonly #metrics: object[] = [];
  /** Attributes are made once for all metrics of a topic. */
  readonly #attributes = new WeakMap<Labels, readonly Attribute[]>();

  constructor(frame: OtlpFrame) {
    this.#frame = frame;
  }

  add(
    { name, help, type }: Metric,
    samples: Iterable<readonly [labels: Labels, value: number]>,
  ): void {
    const { startTimeUnixNano, timeUnixNano } = this.#frame;
    const times = type === "counter" ? { startTimeUnixNano, timeUnixNano } : { timeUnixNano };
    const dataPoints = [];
    for (const [labels, value] of samples)
      // JSON has no infinity and no NaN.
      if (Number.isFinite(value))
        dataPoints.push({ attributes: this.#attributesOf(labels), ...times, asDouble: value });
    if (dataPoints.length === 0) return;
    this.#metrics.push({
      name,
      description: help,
      ...(type === "counter"
        ? { sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } }
        : { gauge: { dataPoints } }),
    });
  }

  addHistogram(
    { name, help }: MetricName,
    samples: Iterable<readonly [labels: Labels, counts: HistogramCounts]>,
  ): void {
    const { startTimeUnixNano, timeUnixNano } = this.#frame;
    const dataPoints = [];
    for (const [labels, { bounds, counts, sum, count }] of samples)
      dataPoints.push({
        attributes: this.#attributesOf(labels),
        startTimeUnixNano,
        timeUnixNano,
        // 64-bit numbers are text in the JSON of protobuf.
        count: String(count),
        sum,
        bucketCounts: counts.map(String),
        explicitBounds: [...bounds],
      });
    if (dataPoints.length === 0) return;
    this.#metrics.push({
      name,
      description: help,
      histogram: { aggregationTemporality: CUMULATIVE, dataPoints },
    });
  }

  /** An `ExportMetricsServiceRequest`. */
  toJson(): object {
    const { resource, scope } = this.#frame;
    return {
      resourceMetrics: [
        {
          resource: { attributes: this.#attributesOf(resource) },
          scopeMetrics: [{ scope, metrics: this.#metrics }],
        },
      ],
    };
  }

  #attributesOf(labels: Labels): readonly Attribute[] {
    const known = this.#attributes.get(labels);
    if (known !== undefined) return known;
    const made = Object.entries(labels).map(([key, stringValue]) => ({
      key,
      value: { stringValue },
    }));
    this.#attributes.set(labels, made);
    return made;
  }
}
