/** Secrets of a flow file are in no answer of the administration and in no event. */
import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import type { PartEvent } from "@sluice/gateway";
import { expect, test } from "vitest";
import { loadFlow } from "../../flow/flow-file.ts";
import { flowConnectors } from "./connectors.ts";
import { FlowPipelines } from "../flow-pipelines.ts";
import { GateMeters } from "../observe/gate-meters.ts";
import { pipelineAddition } from "../admin/pipeline-admin.ts";
import { pipelinesWhy } from "../admin/vertex-why.ts";

const FLOW = `
pipelines:
  a:
    limits: { rateLimit: { max: 10, store: { redisStore: { mode: single, url: "redis://:s3cret@127.0.0.1:1" } } } }
    vertices:
      - { name: in, source: { generator: { rate: 100/s } } }
      - { name: out, sink: { http: { url: "http://127.0.0.1:1/pay?key=s3cret#s3cret" } } }
`;

test("the limits of a vertex are answered without the address of their store", () => {
  const timer = new VirtualTimer();
  const told: PartEvent[] = [];
  const tell = (event: PartEvent): void => void told.push(event);
  const gates = new GateMeters(tell);
  const pipelines = new FlowPipelines("shop", undefined, {
    // Never starts: nothing connects.
    start: () => new Promise(() => {}),
    connectors: flowConnectors({
      folder: "/",
      gatewayUrl: undefined,
      gates,
      secrets: () => Promise.resolve([]),
    }),
    gates,
    timer,
    wallClock: timer,
    random: new SeededRandom(1),
    tell,
  });
  pipelines.start(loadFlow(FLOW, "flow.yaml").pipelines);
  const world = {
    timer,
    wallClock: timer,
    placeOf: () => undefined,
    capacityOf: () => undefined,
    onChange: () => {},
  };
  const answer = JSON.stringify(pipelineAddition(pipelines, world).limits());
  expect(answer).toContain('"max":10');
  expect(answer).not.toContain("s3cret");
});

test("a service is named without the query of its URL", () => {
  const { pipelines } = loadFlow(FLOW, "flow.yaml");
  const flow = pipelines["a"];
  if (flow === undefined) throw new Error("the flow has a pipeline");
  const waiting = { reason: "concurrency", detail: "1 of 1 in flight", sinceMs: 0 } as const;
  const counts = { read: 0, written: 0, dropped: 0, failed: 0, retried: 0, deadLettered: 0 };
  const why = pipelinesWhy(
    {
      views: [
        {
          flow,
          state: {
            name: "a",
            status: "running",
            unacknowledged: 0,
            vertices: [
              {
                name: "out",
                kind: "sink",
                connector: "http",
                perSecond: 0,
                counts,
                queue: 0,
                inFlight: 1,
                waiting,
              },
            ],
          },
          failure: undefined,
          limitsOf: () => ({ limits: {} }),
          throttledOf: () => undefined,
          gateSinceMs: () => undefined,
          gateCountsOf: () => undefined,
        },
      ],
      nowMs: 0,
      wallMs: 0,
      placeOf: () => undefined,
    },
    undefined,
  );
  expect(why.vertices[0]?.peer).toBe("http://127.0.0.1:1/pay");
  expect(JSON.stringify(why)).not.toContain("s3cret");
});

test("a gate tells of its service without the query of its URL", async () => {
  const told: PartEvent[] = [];
  const gates = new GateMeters((event) => told.push(event));
  const connectors = flowConnectors({
    folder: "/",
    gatewayUrl: undefined,
    gates,
    secrets: () => Promise.resolve([]),
  });
  const vertex = loadFlow(FLOW, "flow.yaml").pipelines["a"]?.vertices[1];
  if (vertex?.sink === undefined) throw new Error("the flow has a sink");
  const names: string[] = [];
  const observer = gates.observer.bind(gates);
  gates.observer = (of, peer) => {
    names.push(peer);
    return observer(of, peer);
  };
  await connectors.sink(vertex.sink, "a/out");
  expect(names).toEqual(["http://127.0.0.1:1/pay"]);
});
