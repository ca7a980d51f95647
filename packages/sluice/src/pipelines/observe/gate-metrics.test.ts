/** The meters of a real gate in virtual time. */
import { createGate } from "@sluice/egress";
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import type { PartEvent } from "@sluice/gateway";
import { PrometheusText } from "@sluice/gateway/admin";
import { expect, test } from "vitest";
import { GateMeters } from "./gate-meters.ts";

function newWorld() {
  const timer = new VirtualTimer();
  const told: PartEvent[] = [];
  const meters = new GateMeters((event) => told.push(event));
  const gateOf = (vertex: string, concurrency: number | "adaptive" = "adaptive") =>
    createGate({
      name: vertex,
      concurrency,
      runtime: { timer, random: new SeededRandom(1) },
      observers: meters.observer(vertex, "http://service/"),
    });
  const metrics = (): ReadonlyMap<string, number> => {
    const text = new PrometheusText();
    meters.addMetrics(text);
    const lines = text.toString().split("\n");
    return new Map(
      lines
        .filter((line) => line !== "" && !line.startsWith("#"))
        .map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
    );
  };
  return { timer, told, gateOf, metrics };
}

const OUT = 'pipeline="orders",vertex="out"';

test("round trips, requests in flight and limits are histograms with buckets", async () => {
  const { timer, gateOf, metrics } = newWorld();
  const gate = gateOf("orders/out");
  for (let i = 0; i < 50; i++) {
    const served = gate.run(() => timer.sleep(30));
    await timer.advance(30);
    await served;
  }
  const found = metrics();
  expect(found.get(`adaptive_concurrency_observed_rtt_bucket{${OUT},le="0.025"}`)).toBe(0);
  expect(found.get(`adaptive_concurrency_observed_rtt_bucket{${OUT},le="0.05"}`)).toBe(50);
  expect(found.get(`adaptive_concurrency_observed_rtt_bucket{${OUT},le="+Inf"}`)).toBe(50);
  expect(found.get(`adaptive_concurrency_observed_rtt_sum{${OUT}}`)).toBeCloseTo(1.5);
  expect(found.get(`adaptive_concurrency_in_flight_bucket{${OUT},le="1"}`)).toBeGreaterThan(50);
  expect(found.get(`sluice_gate_wait_seconds_count{${OUT}}`)).toBe(50);
  const decisions = [...found].filter(([name]) =>
    name.startsWith("sluice_gate_limit_decisions_total"),
  );
  const decided = decisions.reduce((sum, [, count]) => sum + count, 0);
  expect(decided).toBeGreaterThan(0);
  expect(found.get(`adaptive_concurrency_limit_count{${OUT}}`)).toBe(decided);
  expect(found.get(`adaptive_concurrency_averaged_rtt_count{${OUT}}`)).toBeGreaterThan(0);
  expect(found.get(`sluice_gate_limit{${OUT}}`)).toBeGreaterThanOrEqual(1);
});

test("requests that fail count by their outcome and not as a round trip", async () => {
  const { gateOf, metrics } = newWorld();
  await gateOf("orders/out")
    .run(() => Promise.reject(new TypeError("no")))
    .catch(() => undefined);
  const found = metrics();
  expect(found.get(`adaptive_concurrency_observed_rtt_count{${OUT}}`)).toBe(0);
  expect([...found.keys()]).toContainEqual(expect.stringMatching(/^sluice_gate_requests_total/));
});

test("a gate warns of limited requests at most once in 5 s, with the number since the last warning", async () => {
  const { timer, told, gateOf } = newWorld();
  const calls: Promise<unknown>[] = [];
  const gates = ["orders/out", "orders/other"].map((name) => gateOf(name, 1));
  const call = (): void => {
    for (const gate of gates) calls.push(gate.run(() => timer.sleep(100)));
  };
  for (let i = 0; i < 100; i++) call();
  for (let second = 1; second < 5; second++) {
    await timer.advance(1_000);
    call();
  }
  expect(told.map(({ kind, subject, limited }) => [kind, subject, limited])).toEqual([
    ["vertex-request-limited", "orders/out", 1],
    ["vertex-request-limited", "orders/other", 1],
  ]);
  await timer.advance(1_000);
  call();
  // 98 of the first hundred, one in each of four seconds, and this one.
  expect(told.slice(2)).toMatchObject([
    { subject: "orders/out", limited: 103, reason: "concurrency" },
    { subject: "orders/other", limited: 103, reason: "concurrency" },
  ]);
  await timer.advance(60_000);
  await Promise.all(calls);
});
