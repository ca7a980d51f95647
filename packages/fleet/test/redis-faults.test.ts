/** Real servers that forget, change their role and refuse, by real time; `redis-clients` has what every library must do. */
import { readFileSync } from "node:fs";
import { systemTimer } from "@sluice/core/system";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import type { PoolStore, SyncReply, SyncRequest } from "../src/store/pool-store.ts";
import { ledgerKeys } from "../src/store/redis/script/arguments.ts";
import type { RedisStoreOptions } from "../src/store/redis/options/options.ts";
import { redisStore } from "../src/store/redis/store.ts";
import { StoreError } from "../src/store/store-error.ts";
import {
  NEEDS_REDIS,
  redisPath,
  RedisServer,
  slowness,
  startCluster,
  startSentinel,
  until,
} from "./redis-server.ts";
import { leaveRequest, syncRequest } from "./requests.ts";

const POOL = "shop/orders";
/** Most time that a call may take: the timeout and what a busy machine adds. */
const OVER_MS = Math.round(3000 * slowness());

/** What a test has started, ended in reverse. */
const started: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

async function startServer(settings: readonly string[] = []): Promise<RedisServer> {
  const server = await RedisServer.start(settings);
  started.push(() => server.stop());
  return server;
}

/** With a long timeout, since a busy machine is slow. */
function open(options: RedisStoreOptions): PoolStore {
  const store = redisStore({ timeoutMs: OVER_MS, ...options });
  started.push(() => store.close());
  return store;
}

let sequence = 0;

function sync(store: PoolStore, said: Partial<SyncRequest> = {}): Promise<SyncReply> {
  sequence++;
  return store.sync(syncRequest({ sequence, ...said }));
}

/** Syncs until a sync is answered; fails after 45 seconds. */
async function syncAgain(store: PoolStore, said: Partial<SyncRequest> = {}): Promise<void> {
  await until(async () => (await sync(store, said)).kind === "told");
}

async function failureOf(call: Promise<unknown>): Promise<{ error: unknown; tookMs: number }> {
  const startMs = systemTimer.now();
  const error: unknown = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return { error, tookMs: systemTimer.now() - startMs };
}

async function callsOf(server: RedisServer): Promise<string> {
  return String(await server.command("INFO", "commandstats"));
}

/** The ids of the connections that are there, without the one that asks and those of replicas. */
async function clientsOf(server: RedisServer): Promise<string[]> {
  const lines = String(await server.command("CLIENT", "LIST")).split("\n");
  const clients = lines.filter((line) => line.includes("flags=N") && !line.includes("cmd=client"));
  return clients.map((line) => /^id=(\d+)/.exec(line)?.[1] ?? "");
}

describe.skipIf(redisPath === undefined)(`a single server${NEEDS_REDIS}`, () => {
  test("ages are by its clock, and no key outlives the last member by more than twice the stale age", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    // As short as a timing may be, so that the test is.
    const timing = { syncIntervalMs: 200, leaseMs: 1500, staleMs: 1900, timeoutMs: 100 };
    const resumeTtlMs = 2000;
    await sync(store, { timing, resumeTtlMs, level: 5 });
    await store.setLimits(POOL, "text");
    // Keys are refreshed once a second.
    await systemTimer.sleep(1000);
    const reply = await sync(store, { member: "b", timing, resumeTtlMs });
    const [seconds] = (await server.command("TIME")) as [string];
    expect(reply).toMatchObject({ members: 2, saved: { level: 5, left: "running" } });
    const storeMs = reply.kind === "told" ? reply.storeMs : 0;
    expect(Math.abs(storeMs / 1000 - Number(seconds))).toBeLessThan(2);
    const left = await Promise.all(
      ledgerKeys(POOL).map(async (key) => Number(await server.command("PTTL", key))),
    );
    expect(Math.min(...left)).toBeGreaterThan(0);
    expect(Math.max(...left)).toBeLessThanOrEqual(2 * timing.staleMs + 1000);
    await until(async () => (await server.command("DBSIZE")) === 0);
  });

  test("one that has forgotten the scripts is sent them", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    await sync(store);
    await server.command("SCRIPT", "FLUSH");
    expect(await sync(store)).toMatchObject({ kind: "told" });
  });

  test("what is under its key and is not ours is an error", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    const [members = ""] = ledgerKeys(POOL);
    await server.command("SET", members, "mine");
    expect((await failureOf(sync(store))).error).toMatchObject({ code: "STORE" });
    await server.command("DEL", members);
    await server.command("HSET", members, "b", "unknown");
    const other = await failureOf(sync(store));
    expect(String(other.error)).toContain("another version of the protocol");
    await server.command("DEL", members);
    await sync(store);
    await server.command("HSET", members, "a", "damaged");
    expect(String((await failureOf(sync(store))).error)).toContain("damaged");
  });

  test("one that has become a replica is left, so that the next connection finds the master", async () => {
    const server = await startServer();
    const other = await startServer();
    const store = open({ url: server.url });
    await sync(store);
    await server.command("REPLICAOF", "127.0.0.1", other.port);
    const before = await clientsOf(server);
    expect(before.length).toBe(1);
    expect(String((await failureOf(sync(store))).error)).toContain("READONLY");
    await until(async () => !(await clientsOf(server)).includes(before[0] ?? ""));
    await server.command("REPLICAOF", "NO", "ONE");
    await syncAgain(store);
  });

  test("a store that was never used, or never found its server, closes too", async () => {
    await redisStore({ url: "redis://127.0.0.1:1" }).close();
    const store = redisStore({ url: "redis://127.0.0.1:1" });
    await failureOf(sync(store));
    await store.close();
  });
});

describe.skipIf(redisPath === undefined)(`the user of the README${NEEDS_REDIS}`, () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, ...words] = (/^ACL SETUSER .*$/m.exec(readme)?.[0] ?? "").split(" ");
  const login = { username: "sluice", password: "password" };

  test("may do all that the store does, and nothing else", async () => {
    const server = await startServer();
    await server.command("ACL", ...words);
    const store = open({ url: server.url, ...login });
    const resumeTtlMs = 1000;
    expect(await sync(store, { level: 1, resumeTtlMs })).toMatchObject({
      members: 1,
      hasRunId: true,
    });
    await store.setLimits(POOL, "text");
    expect(await sync(store)).toMatchObject({ limits: { text: "text" } });
    await sync(store, { member: "b", needsRank: true });
    // An index that was lost is made anew, and a promise that has run out is ended.
    await server.command("DEL", ledgerKeys(POOL)[1] ?? "");
    await systemTimer.sleep(1100);
    await sync(store, { limits: { version: Number.MAX_SAFE_INTEGER, text: "taught" } });
    await server.command("ZADD", ledgerKeys(POOL)[1] ?? "", 0, "b");
    await sync(store);
    await store.leave(leaveRequest({ member: "b", level: 5, resumeTtlMs }));
    expect(await server.command("ACL", "LOG")).toEqual([]);
    const client = new Redis(server.port, "127.0.0.1", { ...login, enableReadyCheck: false });
    await expect(client.flushall()).rejects.toThrow("NOPERM");
    await expect(client.hget("other", "a")).rejects.toThrow("NOPERM");
    await expect(client.keys("*")).rejects.toThrow("NOPERM");
    client.disconnect();
  });

  test("may join a cluster with one right more", async () => {
    const cluster = await startCluster();
    started.push(() => cluster.stop());
    for (const server of cluster.servers) await server.command("ACL", ...words, "+cluster|slots");
    const store = open({ cluster: { nodes: cluster.nodes }, ...login });
    for (const pool of ["a", "b", "c", "d/e", "f"])
      expect(await sync(store, { pool })).toMatchObject({ members: 1 });
  });
});

describe.skipIf(redisPath === undefined)(`Sentinel${NEEDS_REDIS}`, () => {
  test("the store follows the master when it dies", async () => {
    const trio = await startSentinel();
    started.push(() => trio.stop());
    const { masterName, endpoints, master, replica } = trio;
    const store = open({ sentinel: { masterName, endpoints } });
    await syncAgain(store);
    await master.kill();
    expect((await failureOf(sync(store))).error).toBeInstanceOf(StoreError);
    await syncAgain(store);
    expect(String(await replica.command("INFO", "replication"))).toContain("role:master");
    expect(await callsOf(replica)).toContain("cmdstat_evalsha");
  });
});

describe.skipIf(redisPath === undefined)(`Cluster${NEEDS_REDIS}`, () => {
  test("a pool is lost with its master and comes back with it; others go on", async () => {
    const cluster = await startCluster(["cluster-require-full-coverage no"]);
    started.push(() => cluster.stop());
    // One node is enough to find the others.
    const store = open({ cluster: { nodes: cluster.nodes.slice(0, 1) } });
    const pools = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for (const pool of pools) await syncAgain(store, { pool });
    const keys = await Promise.all(
      cluster.servers.map((server) => server.command("KEYS", "*:members")),
    );
    const sizes = keys.map((found) => (found as readonly string[]).length);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(pools.length);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    const [, , third] = cluster.servers;
    await third?.kill();
    const outcomes = await Promise.all(pools.map((pool) => failureOf(sync(store, { pool }))));
    for (const { error, tookMs } of outcomes) {
      if (error !== undefined) expect(error).toBeInstanceOf(StoreError);
      expect(tookMs).toBeLessThan(OVER_MS);
    }
    const lost = pools.filter((_pool, index) => outcomes[index]?.error !== undefined);
    expect(lost.length).toBe(sizes[2]);
    await third?.restart();
    for (const pool of pools) await syncAgain(store, { pool });
  });
});
