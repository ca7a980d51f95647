/** HTTP clients that mean no good. An honest one is served all the while. */
import { once } from "node:events";
import { connect } from "node:net";
import type { Socket } from "node:net";
import { nextTurn, systemTimer } from "@sluice/core/system";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { jsonSteps } from "../src/admin/http/json-steps.ts";
import { DispatchCountBook } from "../src/ingress/dispatch/dispatch-counts.ts";
import { topicStatsJson } from "../src/admin/pulsar/topic/stats-json.ts";
import { inTurns } from "../src/topic/stats-steps.ts";
import { adminScene } from "./admin-client.ts";
import type { AdminScene } from "./admin-client.ts";
import { BrokerScene } from "./broker-scene.ts";
import { longestTurnMs } from "./longest-turn.ts";

let scene: AdminScene;

beforeEach(async () => {
  const limits = { headersMs: 300, requestMs: 500, idleMs: 2_000 };
  scene = await adminScene({}, { limits });
});

afterEach(async () => {
  expect((await scene.call("GET", "/healthz")).status).toBe(200);
  expect(scene.errors).toEqual([]);
});

async function raw(text: string): Promise<Socket> {
  const { port } = new URL(scene.url);
  const socket = connect(Number(port), "127.0.0.1");
  socket.on("error", () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, "connect");
  socket.write(text);
  return socket;
}

const TENANT = "/admin/v2/tenants/hostile";

test.each([
  ["digits", `[${"1".repeat(900_000)}e`],
  ["escaped quotes", `"${String.raw`\"`.repeat(450_000)}`],
  ["open strings", `{${`"`.repeat(900_000)}`],
  ["levels of arrays", `${"[".repeat(400_000)}${"]".repeat(400_000)}`],
  ["levels of objects", `${`{"a":`.repeat(150_000)}1${"}".repeat(150_000)}`],
  ["keys that are no keys", `{"__proto__":{"adminRoles":["x"]},"constructor":{"a":1}}`],
])("a body of %s is read or refused in no time", async (_, body) => {
  const startedAtMs = systemTimer.now();
  const { status } = await scene.call("PUT", TENANT, body);
  expect([204, 400, 409, 412, 422]).toContain(status);
  // Digits took hours, quotes minutes.
  expect(systemTimer.now() - startedAtMs).toBeLessThan(2_000);
});

test("a deep body within the levels is refused by name", async () => {
  const { status, text } = await scene.call("PUT", TENANT, "[".repeat(90) + "]".repeat(90));
  expect(status).toBe(400);
  expect(text).toContain("JSON object");
});

test("headers and bodies that never end are closed in time", async () => {
  const head = "PUT /admin/v2/tenants/slow HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  const type = "Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
  const sockets = await Promise.all([
    raw("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "),
    raw(`${head}${type}`),
    raw(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n`),
  ]);
  await Promise.all(sockets.map((socket) => once(socket.resume(), "close")));
});

test("a flood of headers, or one that is too large, is refused", async () => {
  const lines = Array.from({ length: 3_000 }, (_, index) => `X-${index}: y\r\n`).join("");
  const socket = await raw(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n${lines}\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 431/);
});

test("event streams that are never read cost little, and others go on", async () => {
  const { port } = new URL(scene.url);
  const streams = await Promise.all(
    Array.from({ length: 50 }, () =>
      raw(`GET /api/events HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`),
    ),
  );
  for (const stream of streams) stream.pause();
  for (let count = 0; count < 50; count++) await nextTurn();
  expect((await scene.call("GET", "/api/state")).status).toBe(200);
});

test.each([
  "/admin/v2/persistent/../../../etc/passwd",
  "/admin/v2/persistent/public/default/..%2f..%2f..%2fetc%2fpasswd/stats",
  "/admin/v2/persistent/%2e%2e/%2e%2e/x/stats",
  "/admin/v2/persistent/public/default/%00/stats",
  "/admin/v2/persistent/public/default/%E0%A4%A/stats",
  "/admin/v2/persistent/public/default/x/subscription/%252e%252e%252f",
  "/admin/v2/schemas/public/default/..%2f..%2fx/schema",
  "/../../../../etc/passwd",
  `/admin/v2/persistent/public/default/${"x".repeat(8_000)}/stats`,
  `/admin/v2/${"a/".repeat(4_000)}`,
])("%s leads nowhere", async (path) => {
  const socket = await raw(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  expect(answer.toString()).toMatch(/^HTTP\/1\.1 4\d\d/);
  expect(answer.toString()).not.toMatch(/root:|ENOENT|\/tmp/);
});

test("stats of a topic with 20,000 consumers leave the event loop free", async () => {
  const broker = new BrokerScene();
  for (let number = 0; number < 200; number++)
    for (let consumer = 0; consumer < 100; consumer++)
      await broker.consumer("t", { subscription: `s${number}`, type: "shared", isDurable: false });
  const options = {
    excludePublishers: false,
    excludeConsumers: false,
    limitedTimesOf: () => 0,
    dispatchCountsOf: () => new DispatchCountBook().of("s"),
  };
  let text = "";
  const tookMs = await longestTurnMs(async () => {
    const stats = await broker.broker.statsOf("t", 10_000);
    text = await inTurns(jsonSteps(topicStatsJson(stats, options)), nextTurn);
  });
  const { subscriptions } = JSON.parse(text) as {
    subscriptions: Record<string, { consumers: unknown[]; consumersLeftOut?: number }>;
  };
  expect(subscriptions["s99"]?.consumers).toHaveLength(100);
  expect(subscriptions["s100"]).toMatchObject({ consumers: [], consumersLeftOut: 100 });
  // In one turn it took 100 ms and more.
  expect(tookMs).toBeLessThan(50);
  await broker.broker.close();
});
