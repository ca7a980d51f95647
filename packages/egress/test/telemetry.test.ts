import {
  DataPointType,
  InMemoryMetricExporter,
  AggregationTemporality,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { expect, test } from "vitest";
import { createGate } from "@sluice/egress";
import type { GateOptions } from "@sluice/egress";
import { observeWithOpenTelemetry } from "@sluice/egress/telemetry";

/** A gate, and what its telemetry comes to in the end, by instrument and attributes. */
function setUp(options: GateOptions = {}) {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const timer = new VirtualTimer();
  const gate = createGate({
    ...options,
    name: "peer",
    observers: [observeWithOpenTelemetry(provider.getMeter("test"))],
    runtime: { timer, random: new SeededRandom(1) },
  });
  const collect = async (): Promise<Record<string, unknown>> => {
    exporter.reset();
    await reader.forceFlush();
    const points: Record<string, unknown> = {};
    for (const { scopeMetrics } of exporter.getMetrics())
      for (const { metrics } of scopeMetrics)
        for (const { descriptor, dataPoints, dataPointType } of metrics)
          for (const { attributes, value } of dataPoints) {
            const { gate: name, ...rest } = attributes;
            expect(name).toBe("peer");
            const values = Object.entries(rest).map(([key, each]) => (each === true ? key : each));
            const key = [descriptor.name.replace("sluice.egress.", ""), ...values].join(" ");
            points[key] = dataPointType === DataPointType.HISTOGRAM ? summary(value) : value;
          }
    return points;
  };
  const shutDown = (): Promise<void> => provider.shutdown();
  return { gate, timer, collect, shutDown };
}

test("counts every decision by its reason, and measures round trips, limits and waits", async () => {
  const { gate, timer, collect, shutDown } = setUp({
    concurrency: { algorithm: "vector" },
    maxWaiting: 1,
  });
  const runs = [1, 2, 3].map(() => gate.run(() => timer.sleep(500)).catch(() => undefined));
  await timer.advance(1000);
  await Promise.all(runs);
  gate.pause(10);
  gate.resume();
  const points = await collect();
  await shutDown();
  expect(points).toMatchObject({
    concurrency_limit_reached: 2,
    observed_rtt: { count: 2, sum: 1 },
    concurrency_limit: { count: 1 },
    concurrency_actual: { count: 4 },
    "decisions admitted": 2,
    "decisions held concurrency": 1,
    "decisions refused concurrency": 1,
    "decisions paused retry-after": 1,
    "decisions resumed": 1,
    "attempts ok": 2,
    wait_time: { count: 2, sum: 0.5 },
    in_flight: 0,
  });
  expect(Object.keys(points).some((key) => key.startsWith("limit_decisions"))).toBe(true);
  expect(points["limit"]).toBeGreaterThanOrEqual(1);
});

test("counts retries, those that were denied, who was meant, and cuts", async () => {
  const { gate, timer, collect, shutDown } = setUp({
    busy: "sluice",
    classify: () => ({ outcome: "busy", retriable: "safe", scope: "busy-here" }),
    retry: { attempts: 2, budget: { minPerSecond: 1 } },
  });
  for (let i = 0; i < 300; i++) {
    await gate.run(() => 1, { wait: false }).catch(() => undefined);
    await timer.advance(10);
  }
  const points = await collect();
  await shutDown();
  const retries = Number(points["retries"]);
  const sent = Number(points["attempts busy busy-here"]);
  expect(retries).toBeGreaterThan(10);
  expect(points["decisions retry-denied attempts"]).toBeGreaterThan(0);
  expect(points["decisions retry-denied budget"]).toBeGreaterThan(10);
  expect(points["decisions cut peer-busy"]).toBeGreaterThan(0);
  expect(points["decisions admitted"]).toBe(sent);
});

test("tells what shadow mode only reports apart", async () => {
  const { gate, collect, shutDown } = setUp({ concurrency: 1, shadow: true });
  const permits = [{}, {}, { wait: false }].map((options) => gate.acquire(options));
  for (const { permit } of await Promise.all(permits)) permit?.end("ok");
  expect(await collect()).toMatchObject({
    "decisions admitted": 3,
    "decisions shadow held concurrency": 1,
    "decisions shadow refused concurrency": 1,
    in_flight: 0,
  });
  await shutDown();
});

test("has permits in flight while their bodies are open or their callers have left", async () => {
  const { gate, timer, collect, shutDown } = setUp({ concurrency: 2 });
  const { permit } = gate.tryAcquire();
  permit?.measure("ok");
  const late = gate.run(() => timer.sleep(50), { deadlineMs: 10 }).catch(() => undefined);
  const controller = new AbortController();
  const left = gate.run(() => 1, { signal: controller.signal }).catch(() => undefined);
  controller.abort();
  await timer.advance(10);
  await Promise.all([late, left]);
  expect(await collect()).toMatchObject({ in_flight: 2, "decisions left aborted": 1 });
  permit?.end("ok");
  expect(await collect()).toMatchObject({ in_flight: 1 });
  await timer.advance(40);
  expect(await collect()).toMatchObject({
    in_flight: 0,
    "attempts ok": 1,
    "attempts failed": 1,
    // Of what was served alone.
    observed_rtt: { count: 1, sum: 0 },
    concurrency_actual: { count: 6, sum: 1 + 1 + 2 + 2 + 1 + 0 },
  });
  await shutDown();
});

function summary(value: unknown): { count: number; sum: number | undefined } {
  const { count, sum } = value as { count: number; sum?: number };
  return { count, sum };
}
