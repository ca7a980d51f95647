import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";
import type { FleetLimiter } from "../src/index.ts";
import { observeWithOpenTelemetry } from "../src/telemetry.ts";
import { FaultyStore, newWorld, SETTLED_MS, takeAll } from "./fleet-world.ts";

/** What is collected, by member, instrument and attributes. */
function newMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 1_000_000 });
  const provider = new MeterProvider({ readers: [reader] });
  const meter = provider.getMeter("test");
  const collect = async (of = "m-0"): Promise<Record<string, unknown>> => {
    exporter.reset();
    await reader.forceFlush();
    const points: Record<string, unknown> = {};
    for (const { scopeMetrics } of exporter.getMetrics())
      for (const { metrics } of scopeMetrics)
        for (const { descriptor, dataPoints } of metrics)
          for (const { attributes, value } of dataPoints) {
            const { pool, member = "none", ...rest } = attributes;
            expect(pool).toBe("shop/orders");
            expect(descriptor.description).not.toBe("");
            if (member !== of) continue;
            const name = descriptor.name.replace("sluice.fleet.", "");
            points[[name, ...Object.values(rest)].join(" ")] = value;
          }
    return points;
  };
  const watch = (limiter: FleetLimiter): (() => void) => observeWithOpenTelemetry(meter, limiter);
  return { watch, collect, shutDown: (): Promise<void> => provider.shutdown() };
}

test("reports tokens requested, granted, refused and deposited, waits, and the ramp", async () => {
  const { timer, joinAll } = newWorld({
    pacing: "epoch",
    rateLimit: { max: 1000, min: 100, rampUpDuration: "9s" },
  });
  const { watch, collect, shutDown } = newMetrics();
  const limiters = await joinAll(2);
  for (const limiter of limiters) watch(limiter);
  const [limiter] = limiters;
  if (limiter === undefined) throw new Error("no member joined");
  await timer.advance(1000);
  (await limiter.acquire(30)).deposit({ unused: 4, dropped: 3 });
  expect((await limiter.acquireUpTo(30)).count).toBe(27);
  await timer.advance(1000);
  expect(limiter.tryAcquire(10)?.count).toBe(10);
  expect(await collect()).toMatchObject({
    requested: 70,
    "granted held": 67,
    "granted none": 0,
    "refused fleet-share": 3,
    "refused store-lost": 0,
    "deposited unused": 4,
    "deposited dropped": 3,
    waits: 0,
    ceiling: 200,
    share: 100,
    left: 90,
    usage: 1,
    "steps start": 1,
    "steps up": 1,
    "steps down": 0,
    waiting: 0,
  });
  limiter.tryAcquireUpTo(90);
  const waiting = limiter.acquire(1);
  await timer.advance(250);
  expect(await collect()).toMatchObject({ waiting: 1, waits: 1, waited: 0 });
  await timer.advance(1000);
  await waiting;
  const points = await collect();
  expect(points["waited"]).toBeGreaterThan(0.2);
  expect(points["waited"]).toBeLessThanOrEqual(1);
  expect(await collect("m-1")).toMatchObject({ requested: 0, ceiling: 100, size: 2 });
  await Promise.all(limiters.map((each) => each.leave()));
  await shutDown();
});

test("reports the size, syncs, ages and errors of a membership, and the level that was resumed", async () => {
  const { timer, store, join, joinAll } = newWorld({
    rateLimit: { max: 1000, min: 10, rampUpDuration: "10s", resumedRampUp: true },
  });
  const { watch, collect, shutDown } = newMetrics();
  const link = new FaultyStore(store);
  const [first] = await joinAll(1, { store: link });
  if (first === undefined) throw new Error("no member joined");
  const stop = watch(first);
  await takeAll(timer, [first], { ms: 5000, everyMs: 20 });
  await timer.advance(500);
  const level = first.state().ceiling;
  expect(await collect()).toMatchObject({
    "standing member": 1,
    size: 1,
    learning: 0,
    sync_errors: 0,
    usage: 1,
  });
  const { joined } = join("m-1");
  await timer.advance(SETTLED_MS);
  const second = await joined;
  watch(second);
  const points = await collect();
  expect(points["syncs"]).toBeGreaterThan(40);
  expect(points["sync_age"]).toBeLessThanOrEqual(0.5);
  expect(points["lease_left"]).toBeGreaterThanOrEqual(4.5);
  expect(await collect("m-1")).toMatchObject({ "resume_level running": level, size: 2 });
  link.fault = "down";
  await timer.advance(8000);
  first.tryAcquireUpTo(1000);
  await timer.advance(1000);
  expect(first.tryAcquireUpTo(1000)?.count).toBeGreaterThan(0);
  const lost = await collect();
  expect(lost).toMatchObject({ "standing lost": 1, "standing member": 0, lease_left: 0 });
  expect(lost["sync_errors"]).toBeGreaterThan(10);
  expect(lost["sync_age"]).toBeGreaterThan(8);
  expect(lost["refused store-lost"]).toBeGreaterThan(900);
  expect(lost["granted none"]).toBeGreaterThan(0);
  stop();
  first.tryAcquire(1);
  expect(await collect()).toEqual(lost);
  await Promise.all([first.leave(), second.leave()]);
  await shutDown();
});

test("without a limit only tokens requested and granted are reported", async () => {
  const { join } = newWorld();
  const { watch, collect, shutDown } = newMetrics();
  const limiter = await join("a", { rateLimit: undefined }).joined;
  watch(limiter);
  limiter.tryAcquire(5);
  const points = await collect("none");
  expect(points).toMatchObject({ requested: 5, "granted held": 5, waiting: 0 });
  expect(points).not.toHaveProperty("ceiling");
  expect(points).not.toHaveProperty("sync_errors");
  await shutDown();
});
