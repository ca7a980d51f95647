/** Policies that are set over HTTP are what the broker does, and are there after a restart. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SeededRandom } from "@sluice/core";
import { nextTurn, systemTimer } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { connect } from "@sluice/pulsar";
import { expect, onTestFinished, test } from "vitest";
import { startAdmin } from "../src/admin.ts";
import { startBroker } from "../src/index.ts";
import type { StartBrokerOptions } from "../src/index.ts";
import { passUntil } from "./broker-world.ts";

const T = "/admin/v2/persistent/public/default/t";
const JSON_TYPE = { "content-type": "application/json" };

async function scene(
  folder: string,
  settings: StartBrokerOptions["broker"] = {},
): Promise<{
  readonly timer: VirtualTimer;
  readonly url: string;
  readonly admin: string;
  readonly close: () => Promise<void>;
}> {
  const timer = new VirtualTimer();
  const world = { timer, clock: timer, wallClock: timer, random: new SeededRandom(1), nextTurn };
  const broker = await startBroker(
    { listen: "pulsar://127.0.0.1:0", data: { folder }, broker: settings },
    world,
  );
  const admin = await startAdmin({ listen: "127.0.0.1:0", broker, version: "0" });
  const close = async (): Promise<void> => {
    await admin.close();
    await passUntil(timer, broker.close());
  };
  onTestFinished(close);
  return { timer, url: broker.url, admin: admin.url, close };
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-policy-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function backlogOf(admin: string): Promise<unknown> {
  const stats = (await (await fetch(`${admin}${T}/stats`)).json()) as {
    readonly subscriptions: { readonly s: { readonly msgBacklog: number } };
  };
  return stats.subscriptions.s.msgBacklog;
}

test("messages older than the TTL of their topic are gone", async () => {
  const { timer, url, admin } = await scene(await temporaryFolder());
  await using client = await connect(url);
  await (await client.subscribe({ topic: "t", subscription: "s" })).close();
  const producer = await client.createProducer({ topic: "t" });
  await producer.send({ data: Buffer.from("old") });
  expect(await backlogOf(admin)).toBe(1);
  const set = await fetch(`${admin}${T}/messageTTL?messageTTL=30`, { method: "POST" });
  expect(set.status).toBe(204);
  await timer.advance(29_000);
  expect(await backlogOf(admin)).toBe(1);
  await timer.advance(62_000);
  while ((await backlogOf(admin)) !== 0) await systemTimer.sleep(5);
});

test("a TTL of the broker holds for topics without one of their own, and 0 at a topic means none", async () => {
  const { timer, url, admin } = await scene(await temporaryFolder(), { messageTtlMs: 30_000 });
  await using client = await connect(url);
  await (await client.subscribe({ topic: "t", subscription: "s" })).close();
  const producer = await client.createProducer({ topic: "t" });
  expect(await (await fetch(`${admin}${T}/messageTTL?applied=true`)).json()).toBe(30);
  await fetch(`${admin}${T}/messageTTL?messageTTL=0`, { method: "POST" });
  await producer.send({ data: Buffer.from("kept") });
  await timer.advance(200_000);
  expect(await backlogOf(admin)).toBe(1);
  await fetch(`${admin}${T}/messageTTL`, { method: "DELETE" });
  await timer.advance(62_000);
  while ((await backlogOf(admin)) !== 0) await systemTimer.sleep(5);
});

test("a quota, a tenant and a namespace are there after a restart", async () => {
  const folder = await temporaryFolder();
  const before = await scene(folder);
  const put = (path: string, method: string, body: unknown): Promise<Response> =>
    fetch(before.admin + path, { method, headers: JSON_TYPE, body: JSON.stringify(body) });
  const tenant = { adminRoles: [], allowedClusters: ["standalone"] };
  const quota = { limitSize: 10, policy: "producer_exception" };
  expect((await put("/admin/v2/tenants/shop", "PUT", tenant)).status).toBe(204);
  expect((await put("/admin/v2/namespaces/shop/eu", "PUT", null)).status).toBe(204);
  expect((await put("/admin/v2/namespaces/shop/eu/backlogQuota", "POST", quota)).status).toBe(204);
  await before.close();

  const { timer, url, admin } = await scene(folder);
  const map = await fetch(`${admin}/admin/v2/namespaces/shop/eu/backlogQuotaMap`);
  expect(await map.json()).toMatchObject({ destination_storage: quota });
  await using client = await connect(url);
  const topic = "persistent://shop/eu/t";
  await (await client.subscribe({ topic, subscription: "s" })).close();
  const producer = await client.createProducer({ topic });
  await producer.send({ data: Buffer.alloc(100) });
  await producer.close();
  await timer.advance(60_000);
  await expect(client.createProducer({ topic })).rejects.toThrow(/quota/i);
});
