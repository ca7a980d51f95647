/** A gateway whose paths to clients and to its broker lose time, cut frames anywhere, or swallow everything. */
import { SeededRandom } from "@sluice/core";
import { systemTimer } from "@sluice/core/system";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { createOpenSocket } from "../../src/upstream/open-socket.ts";
import { clientOf, endScene, startFront, startUpstream, until } from "../gateway-scene.ts";
import type { Front } from "../gateway-scene.ts";
import { FaultProxy } from "./fault-proxy.ts";
import { KilledLoad } from "./killed-load.ts";

afterEach(endScene);

const TOPIC = "public/default/t";
const LIMIT = 500;

/** A silent peer is gone after two of them: 60 s by default. */
const PING_MS = 500;

interface Scene {
  readonly toClient: FaultProxy;
  readonly toBroker: FaultProxy;
  readonly front: Front;
  readonly loads: readonly KilledLoad[];
  readonly verify: () => Promise<void>;
}

async function proxyTo(port: number, seed: number): Promise<FaultProxy> {
  const proxy = await FaultProxy.start(port, new SeededRandom(seed));
  onTestFinished(() => proxy.close());
  return proxy;
}

async function startScene(): Promise<Scene> {
  const broker = await startUpstream();
  const toBroker = await proxyTo(broker.port, 1);
  const openSocket = createOpenSocket(undefined);
  const front = await startFront(
    broker.url,
    { limits: { topicDefault: { messages: LIMIT } }, session: { pingMs: PING_MS } },
    { open: (endpoint, signal) => openSocket({ ...endpoint, port: toBroker.port }, signal) },
  );
  const toClient = await proxyTo(front.gateway.port, 2);
  const reader = await clientOf(broker.url);
  await (await reader.subscribe({ topic: TOPIC, subscription: "all" })).close();
  const loads: KilledLoad[] = [];
  for (const throttle of [true, false]) {
    const client = await clientOf(`pulsar://127.0.0.1:${toClient.port}`, {
      throttle,
      keepAliveMs: PING_MS,
    });
    const producer = await client.createProducer({ topic: TOPIC, sendTimeoutMs: 0 });
    loads.push(new KilledLoad(producer, loads.length));
  }
  const verify = async (): Promise<void> => {
    await Promise.all(loads.map((load) => load.stop()));
    const found = new Map<string, Buffer>();
    const missing = new Set(loads.flatMap((load) => load.lastIds));
    const consumer = await reader.subscribe({ topic: TOPIC, subscription: "all" });
    while (missing.size > 0) {
      const { messageId, data } = await consumer.receive();
      found.set(`${TOPIC} ${String(messageId)}`, data);
      missing.delete(`${TOPIC} ${String(messageId)}`);
    }
    for (const load of loads) load.verify(found);
  };
  return { toClient, toBroker, front, loads, verify };
}

// A busy machine that stands still for two PINGs, 1 s, looks like a silent peer: each test has three tries.
const TRIES = { retry: 2 };

test(
  "on paths that delay and cut what they forward, order holds, nothing is lost, and no connection is given up",
  TRIES,
  async () => {
    const { front, loads, verify } = await startScene();
    for (let rounds = 0; rounds < 3; rounds++)
      await Promise.all(loads.map((load) => load.acknowledgedMore()));
    await verify();
    expect(front.events.filter(({ kind }) => kind === "client-closed")).toEqual([]);
  },
);

test.each(["toClient", "toBroker"] as const)(
  "the path %s swallows everything: the silent peer is noticed after two PINGs, and clients go on once it heals",
  TRIES,
  async (hole) => {
    const scene = await startScene();
    const { front, loads, verify } = scene;
    await Promise.all(loads.map((load) => load.acknowledgedMore()));
    const openBefore = front.gateway.stats().connections;
    expect(openBefore).toBeGreaterThan(0);
    scene[hole].isHole = true;
    const startedAtMs = systemTimer.now();
    await until(() =>
      front.events.some(({ kind }) => kind === "client-closed" || kind === "upstream-lost"),
    );
    await until(() => front.gateway.stats().producers === 0);
    // Two PINGs, and time for a busy machine.
    expect(systemTimer.now() - startedAtMs).toBeLessThan(6 * PING_MS + 1_000);
    scene[hole].heal();
    await Promise.all(loads.map((load) => load.acknowledgedMore()));
    await verify();
  },
);
