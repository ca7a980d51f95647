/** The administration of a gateway that has no broker of its own: limits, why, state and metrics. */
import { VirtualTimer } from "@sluice/core/testing";
import { expect, onTestFinished, test } from "vitest";
import { administerIngress } from "../src/administer-ingress.ts";
import { startAdmin } from "../src/admin.ts";
import { Dispatch } from "../src/ingress/dispatch/dispatch.ts";
import { Ingress } from "../src/ingress/ingress.ts";
import { CountedByteBudget } from "../src/memory/counted-byte-budget.ts";
import type { AdministrableGateway } from "../src/index.ts";
import { PolicyBook } from "../src/policy/policy-book.ts";
import { MemoryDocumentStore } from "../src/storage/document/memory-document-store.ts";

const UPSTREAM = "pulsar://broker:6650";

async function gateway(): Promise<AdministrableGateway> {
  const timer = new VirtualTimer();
  const memory = new CountedByteBudget(2 ** 20, () => undefined);
  const given = { topics: { orders: { messages: 10 } }, connection: { pendingMessages: 10 } };
  const ingress = new Ingress<string>(given, {
    memory,
    keep: (item) => ({ item, bytes: item.length }),
    onWakeAt: () => undefined,
    nowMs: 0,
  });
  const policies = await PolicyBook.open(new MemoryDocumentStore(), "standalone");
  const world = { timer, clock: timer, memory, observe: () => undefined };
  const dispatch = new Dispatch({}, { onWakeAt: () => undefined, nowMs: 0 });
  const limited = { ingress, dispatch };
  const { decisions: _, ...books } = administerIngress(limited, given, policies, world);
  // One connection, whose producer sends three messages more than its topic takes.
  const connection = ingress.connect({
    address: "127.0.0.1:9",
    publish: () => undefined,
    throttle: () => undefined,
    unthrottle: () => undefined,
    notify: () => undefined,
    disconnect: () => undefined,
  });
  const topic = "persistent://public/default/orders";
  connection.open(1, { topic, name: "bulk", producerId: 1n });
  for (let i = 0; i < 13; i++) connection.offer(1, "x", { messages: 1, bytes: 1 }, 0);
  const stats = {
    connections: 1,
    refusedConnections: 0,
    producers: 1,
    consumers: 0,
    pendingSends: 0,
    pendingBytes: 0,
    heldBytes: 3,
    unreadBytes: 0,
    memoryBytes: 3,
    memoryBytesMax: 1_000_000,
    memoryPeakBytes: 3,
    memoryByUse: memory.byUse(),
    pausedConnections: 0,
  };
  return {
    urls: ["pulsar://127.0.0.1:6650"],
    notReady: () => undefined,
    administered: {
      upstream: UPSTREAM,
      connections: () => stats,
      roles: undefined,
      ...books,
      shares: undefined,
    },
  };
}

test("limits and why work without a broker; Pulsar's paths are those of the cluster", async () => {
  const admin = await startAdmin({
    listen: "127.0.0.1:0",
    broker: await gateway(),
    version: "0",
  });
  onTestFinished(() => admin.close());
  const get = async (path: string): Promise<unknown> => (await fetch(admin.url + path)).json();
  expect(await get("/api/state")).toMatchObject({
    gateway: { upstream: UPSTREAM },
    topics: [],
    waiting: [{ reason: "topic-rate", producers: 1 }],
  });
  const producers = [{ name: "bulk", heldFrames: 3 }];
  expect(await get("/api/why")).toMatchObject({
    waiting: [{ limiter: "topic", producers }],
    paused: [
      {
        reason: "connection-pending",
        pending: { used: 10, max: 10, resume: 5 },
        setting: { path: "gateway.limits.connection.pendingMessages" },
      },
    ],
  });
  expect(await get("/api/limits")).toMatchObject({ limits: [{ level: "topic", messages: 10 }] });
  const metrics = await (await fetch(`${admin.url}/metrics`)).text();
  expect(metrics).toMatch(/pulsar_publish_rate_limit_times\{.*limiter="topic"\} 3\n/);
  expect((await fetch(`${admin.url}/admin/v2/tenants`)).status).toBe(404);
});
