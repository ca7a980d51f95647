/** What is exported, beside what OpenTelemetry's own SDK and serializer make of the same values. */
import { JsonMetricsSerializer } from "@opentelemetry/otlp-transformer";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  AggregationType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { Histogram } from "@sluice/gateway/admin";
import { expect, test } from "vitest";
import { OtlpMetrics } from "./otlp-metrics.ts";

const VALUES = [0.5, 1, 3, 9];
const BOUNDS = [1, 4];

function ours(): object {
  const metrics = new OtlpMetrics({
    resource: { "service.name": "shop" },
    scope: { name: "sluice", version: "1" },
    startTimeUnixNano: "1000000",
    timeUnixNano: "2000000",
  });
  const histogram = new Histogram(BOUNDS);
  for (const value of VALUES) histogram.record(value);
  const labels = { pipeline: "p" };
  // The SDK lists instruments with a view first.
  metrics.addHistogram({ name: "rtt", help: "Round trips." }, [[labels, histogram]]);
  metrics.add({ name: "read_total", help: "Read.", type: "counter" }, [[labels, 7]]);
  metrics.add({ name: "waiting", help: "Waiting.", type: "gauge" }, [[labels, -1.5]]);
  return metrics.toJson();
}

async function theirs(): Promise<object> {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({
    resource: resourceFromAttributes({ "service.name": "shop" }),
    readers: [reader],
    views: [
      {
        instrumentName: "rtt",
        aggregation: {
          type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM,
          options: { boundaries: BOUNDS, recordMinMax: false },
        },
      },
    ],
  });
  const meter = provider.getMeter("sluice", "1");
  const labels = { pipeline: "p" };
  meter.createCounter("read_total", { description: "Read." }).add(7, labels);
  meter.createGauge("waiting", { description: "Waiting." }).record(-1.5, labels);
  const histogram = meter.createHistogram("rtt", { description: "Round trips." });
  for (const value of VALUES) histogram.record(value, labels);
  await reader.forceFlush();
  const [collected] = exporter.getMetrics();
  if (collected === undefined) throw new Error("nothing was collected");
  const bytes = JsonMetricsSerializer.serializeRequest(collected);
  await provider.shutdown();
  return JSON.parse(Buffer.from(bytes ?? []).toString("utf8")) as object;
}

/**
 * Differences that the format allows: 64-bit numbers may be text or numbers, a gauge may have a start, an empty text
 * or list may be left out.
 */
function normal(value: unknown, key = "", isGauge = false): unknown {
  if (/TimeUnixNano$/i.test(key)) return "time";
  if (key === "count") return Number(value);
  if (key === "bucketCounts") return (value as readonly unknown[]).map(Number);
  if (Array.isArray(value)) return value.map((one) => normal(one, "", isGauge));
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .filter(([name, one]) => one !== "" && one !== 0 && !(isGauge && name === "startTimeUnixNano"))
    .map(([name, one]) => [name, normal(one, name, isGauge || name === "gauge")] as const);
  return Object.fromEntries(entries);
}

test("an export has the shape that OpenTelemetry's own serializer gives the same metrics", async () => {
  expect(normal(JSON.parse(JSON.stringify(ours())))).toEqual(normal(await theirs()));
});

test("64-bit numbers are decimal text, as the JSON of protobuf has them", () => {
  const text = JSON.stringify(ours());
  expect(text).toContain('"count":"4","sum":13.5,"bucketCounts":["2","1","1"]');
  expect(text).toContain('"startTimeUnixNano":"1000000","timeUnixNano":"2000000"');
});

test("values that JSON does not have, and metrics without a series, are left out", () => {
  const metrics = new OtlpMetrics({
    resource: {},
    scope: { name: "sluice", version: "1" },
    startTimeUnixNano: "0",
    timeUnixNano: "0",
  });
  metrics.add({ name: "a", help: "", type: "gauge" }, [
    [{}, Infinity],
    [{ b: "c" }, 2],
  ]);
  metrics.add({ name: "none", help: "", type: "counter" }, []);
  metrics.addHistogram({ name: "empty", help: "" }, []);
  expect(JSON.stringify(metrics.toJson()).match(/"name":"(?!sluice)\w+"|asDouble":\w+/g)).toEqual([
    '"name":"a"',
    'asDouble":2',
  ]);
});
