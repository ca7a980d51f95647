/** A pipeline as OpenTelemetry's own SDK collects it. */
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { blackhole, generator, startPipeline } from "@sluice/pipeline";
import { observeWithOpenTelemetry, PIPELINE_METRICS } from "@sluice/pipeline/telemetry";
import { expect, onTestFinished, test } from "vitest";
import { passing } from "./pipeline-world.ts";

/** What the SDK collects: `name label…` and its value. */
function newMeter() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({ readers: [reader] });
  onTestFinished(() => provider.shutdown());
  const collect = async (): Promise<Readonly<Record<string, unknown>>> => {
    exporter.reset();
    await reader.forceFlush();
    const points = exporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics)
      .flatMap(({ metrics }) => metrics)
      .flatMap(({ descriptor, dataPoints }) =>
        dataPoints.map(({ attributes, value }) => [
          [descriptor.name, ...Object.values(attributes)].join(" "),
          value,
        ]),
      );
    return Object.fromEntries(points) as Readonly<Record<string, unknown>>;
  };
  return { meter: provider.getMeter("test"), collect };
}

async function limitedPipeline(timer: VirtualTimer) {
  return startPipeline(
    {
      name: "shop",
      source: { name: "in", source: generator({ values: (index) => index }) },
      maps: [],
      sink: {
        name: "out",
        sink: blackhole(),
        limits: { rateLimit: { max: 10, min: 10 } },
      },
    },
    { timer, random: new SeededRandom(1) },
  );
}

test("a meter gets what a pipeline counts, with the names of /metrics", async () => {
  const timer = new VirtualTimer();
  const pipeline = await limitedPipeline(timer);
  const { meter, collect } = newMeter();
  const stop = observeWithOpenTelemetry(meter, pipeline);
  await timer.advance(3_000);
  const collected = await collect();
  const { vertices } = pipeline.state();
  expect(collected).toMatchObject({
    "forwarder_read_total shop in source": vertices[0]?.counts.read,
    "forwarder_write_total shop out sink": vertices[1]?.counts.written,
    "sluice_rate_limit_ceiling shop out sink": 10,
    "sluice_vertex_waiting shop out fleet-share": 1,
    "sluice_pipeline_up shop": 1,
  });
  const known = new Set(PIPELINE_METRICS.map(({ name }) => name));
  expect(Object.keys(collected).filter((key) => !known.has(key.split(" ")[0] ?? ""))).toEqual([]);
  stop();
  await timer.advance(3_000);
  // The SDK goes on with the last values.
  expect(await collect()).toEqual(collected);
  await passing(timer, pipeline.stop());
});
