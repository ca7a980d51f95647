import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { MemoryQuotaStore } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { createInboundLimiter } from "@sluice/egress/server";
import { observeInboundWithOpenTelemetry } from "@sluice/egress/telemetry";
import { expect, test } from "vitest";

test("decisions are counted by reason and policy, waits and store calls are measured, no key is told", async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const timer = new VirtualTimer();
  const limiter = createInboundLimiter({
    name: "api",
    rate: "2/min",
    concurrency: { limit: 1, maxWaitMs: 500 },
    store: new MemoryQuotaStore(timer),
    clock: timer,
    observers: [observeInboundWithOpenTelemetry(provider.getMeter("test"))],
  });
  const first = limiter.admit("secret key");
  const second = limiter.admit("secret key");
  await timer.advance(1000);
  await Promise.all([first, second]);
  const third = limiter.admit("secret key");
  await timer.advance(1);
  await third;
  await reader.forceFlush();
  const points: Record<string, unknown> = {};
  for (const { scopeMetrics } of exporter.getMetrics())
    for (const { metrics } of scopeMetrics)
      for (const { descriptor, dataPoints } of metrics)
        for (const { attributes, value } of dataPoints) {
          const { limiter: name, ...rest } = attributes;
          expect(name).toBe("api");
          const key = [descriptor.name.replace("sluice.inbound.", ""), ...Object.values(rest)];
          points[key.join(" ")] =
            typeof value === "object" ? (value as { count: number }).count : value;
        }
  await provider.shutdown();
  expect(points).toMatchObject({
    "decisions admitted": 1,
    "decisions refused concurrency": 1,
    "decisions refused over-quota default": 1,
    "wait_time refused": 1,
    in_flight: 1,
    limit: 1,
    store_call_time: 2,
    store_calls: 2,
  });
  expect(JSON.stringify(points)).not.toContain("secret");
});
