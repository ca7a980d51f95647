import type { Reason } from "@sluice/core";
import { expect, test } from "vitest";
import type { LiveGateway, LiveProducer, LiveSample } from "../../../../src/live/live-message.ts";
import { lanesOf, queuedPart } from "./lanes.ts";

const waiting = (
  name: string,
  reason: Reason | undefined,
  rate: number,
  asked: number,
): LiveProducer => ({
  name,
  topic: "t",
  isAware: false,
  rate,
  asked,
  isAskedAtLeast: false,
  heldFrames: 0,
  heldBytes: 0,
  ...(reason !== undefined && { reason }),
});

function sample(atMs: number, producers: readonly LiveProducer[]): LiveSample {
  const gateway: LiveGateway = {
    upstream: "embedded",
    rate: { messages: 0, bytes: 0 },
    asked: 0,
    isAskedAtLeast: false,
    memory: { used: 0, max: 1 },
    connections: 1,
    topics: [],
    topicsLeftOut: 0,
    groups: [],
    producers,
    producersLeftOut: { count: 0, rate: 0 },
    notices: { told: 0, limited: 0, missing: 0 },
  };
  return { atMs, gateway, pipelines: [], waits: [], waitsLeftOut: 0 };
}

test("a band lasts as long as one reason does, and its height is the part that waited", () => {
  const { lanes } = lanesOf([
    sample(0, [waiting("a", "topic-rate", 25, 100)]),
    sample(500, [waiting("a", "topic-rate", 50, 100)]),
    sample(1_000, [waiting("a", "group-rate", 50, 100)]),
    sample(1_500, [waiting("a", undefined, 100, 100)]),
    sample(3_500, [waiting("a", "group-rate", 50, 100)]),
  ]);
  expect(
    lanes[0]?.bands.map(({ reason, points }) => [reason, points.map(({ part }) => part)]),
  ).toEqual([
    ["topic-rate", [0.75, 0.5]],
    ["group-rate", [0.5]],
    ["group-rate", [0.5]],
  ]);
  expect(lanes[0]?.isWaitingNow).toBe(true);
});

test("who did not wait has no lane", () => {
  expect(lanesOf([sample(0, [waiting("a", undefined, 1, 1)])])).toEqual({ lanes: [], leftOut: 0 });
});

test("at most eight lanes are shown, those that waited most, and the others are counted", () => {
  const many = Array.from({ length: 11 }, (_, index) =>
    waiting(`p${index}`, "topic-rate", index * 5, 100),
  );
  const { lanes, leftOut } = lanesOf([sample(0, many)]);
  expect(lanes.map(({ name }) => name)).toEqual(["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"]);
  expect(leftOut).toBe(3);
});

test("a sink that waits for its share has a full tank although its gate has no request", () => {
  const gate = {
    service: "payments",
    isAdaptive: true,
    inFlight: 0,
    sent: 0,
    ok: 0,
    busy: 0,
    failed: 0,
  };
  const sink = {
    name: "out",
    kind: "sink",
    connector: "http",
    droppedRate: 0,
    inFlight: 0,
  } as const;
  expect(
    queuedPart({ ...sink, rate: 1, queue: 940, queueMax: 1_000, gate: { ...gate, waiting: 0 } }),
  ).toBe(0.94);
  expect(
    queuedPart({ ...sink, rate: 1, queue: 0, gate: { ...gate, waiting: 3, inFlight: 1 } }),
  ).toBe(0.75);
});

test("the tank of a source shows its backlog against what it reads in a minute", () => {
  const source = {
    name: "in",
    kind: "source",
    connector: "pulsar",
    droppedRate: 0,
    inFlight: 0,
  } as const;
  expect(queuedPart({ ...source, rate: 1, queue: 940 })).toBe(0.94);
});
