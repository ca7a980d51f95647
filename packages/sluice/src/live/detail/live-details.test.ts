import { SeededRandom } from "@sluice/core";
import { VirtualTimer } from "@sluice/core/testing";
import { MemoryStore } from "@sluice/fleet";
import { startPipeline } from "@sluice/pipeline";
import { expect, test } from "vitest";
import { loadFlow } from "../../flow/flow-file.ts";
import { flowConnectors } from "../../pipelines/define/connectors.ts";
import { FlowPipelines } from "../../pipelines/flow-pipelines.ts";
import { GateMeters } from "../../pipelines/observe/gate-meters.ts";
import { LiveDetails } from "./live-details.ts";

const FLOW = `
pipelines:
  a:
    limits: { rateLimit: { max: 10, min: 10 } }
    vertices: [{ name: in, source: { generator: { rate: 5/s } } }, { name: out, sink: { blackhole: {} } }]
`;
const POOL = "shop/a/in";

test("the past of a pool is kept for fifteen minutes after its pipeline is down", async () => {
  const timer = new VirtualTimer();
  const store = new MemoryStore(timer);
  const gates = new GateMeters(() => undefined);
  const pipelines = new FlowPipelines("shop", store, {
    start: startPipeline,
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
    tell: () => undefined,
  });
  const details = new LiveDetails({
    gateway: undefined,
    pipelines,
    shared: { store, address: "memory" },
    clock: timer,
    processId: 1,
    placeOf: () => undefined,
  });
  const pass = async (seconds: number): Promise<number> => {
    for (let sample = 0; sample < 2 * seconds; sample++) {
      const wallMs = timer.now();
      const live = { atMs: wallMs, gateway: undefined, pipelines: [], waits: [], waitsLeftOut: 0 };
      details.read({ live, gateway: undefined, wallMs }, []);
      await timer.advance(500);
    }
    return details.poolPast(POOL).length;
  };
  pipelines.start(loadFlow(FLOW, "flow.yaml").pipelines);
  const looks = await pass(60);
  expect(looks).toBeGreaterThan(10);
  const stopped = pipelines.stop();
  await pass(20);
  await stopped;
  expect(pipelines.views()[0]?.state.vertices[0]?.fleet).toBeUndefined();
  expect(await pass(60)).toBeGreaterThanOrEqual(looks);
  expect(await pass(15 * 60)).toBe(0);
});
