import {
  DataPointType,
  InMemoryMetricExporter,
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "@sluice/egress";
import { observeWithOpenTelemetry } from "@sluice/egress/telemetry";

test("counts every decision by its reason, and measures round trips, limits and waits", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const timer = new VirtualTimer();
  const gate = createGate({
    name: "peer",
    concurrency: { algorithm: "vector" },
    maxWaiting: 1,
    observers: [observeWithOpenTelemetry(provider.getMeter("test"))],
    runtime: { timer },
  });
  const runs = [1, 2, 3].map(() => gate.run(() => timer.sleep(500)).catch(() => undefined));
  await timer.advance(1000);
  await Promise.all(runs);
  gate.pause(10);
  await reader.forceFlush();
  const points = new Map<string, unknown>();
  for (const { scopeMetrics } of exporter.getMetrics())
    for (const { metrics } of scopeMetrics)
      for (const { descriptor, dataPoints, dataPointType } of metrics)
        for (const { attributes, value } of dataPoints) {
          const { gate: name, ...rest } = attributes;
          expect(name).toBe("peer");
          const key = [descriptor.name, ...Object.values(rest)].join(" ");
          points.set(key, dataPointType === DataPointType.HISTOGRAM ? summary(value) : value);
        }
  await provider.shutdown();
  expect(Object.fromEntries(points)).toMatchObject({
    "sluice.egress.concurrency_limit_reached": 2,
    "sluice.egress.observed_rtt": { count: 2, sum: 1 },
    "sluice.egress.concurrency_limit": { count: 1 },
    "sluice.egress.concurrency_actual": { count: 4 },
    "sluice.egress.decisions admitted": 2,
    "sluice.egress.decisions held concurrency": 1,
    "sluice.egress.decisions refused concurrency": 1,
    "sluice.egress.decisions paused retry-after": 1,
    "sluice.egress.attempts ok": 2,
    "sluice.egress.wait_time": { count: 2, sum: 0.5 },
    "sluice.egress.in_flight": 0,
  });
  expect([...points.keys()].some((key) => key.startsWith("sluice.egress.limit_decisions"))).toBe(
    true,
  );
  expect(points.get("sluice.egress.limit")).toBeGreaterThanOrEqual(1);
});

function summary(value: unknown): { count: number; sum: number | undefined } {
  const { count, sum } = value as { count: number; sum?: number };
  return { count, sum };
}
