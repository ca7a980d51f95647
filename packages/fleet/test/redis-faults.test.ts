/** Real servers that hang, die, fail over, forget and refuse, by real time. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { nextTurn, systemTimer } from "@sluice/core/system";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import type { PoolStore, SyncReply, SyncRequest } from "../src/store/pool-store.ts";
import type { RedisStoreOptions } from "../src/store/redis/options.ts";
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
import type { SentinelTrio } from "./redis-server.ts";
import { ledgerKeys } from "../src/store/redis/arguments.ts";

const TIMEOUT_MS = 250;
/** Most time that a call may take: the timeout and what a busy machine adds. */
const OVER_MS = Math.round(3000 * slowness());
const TIMES = { staleMs: 60_000, learningMs: 0, resumeTtlMs: 0 };
const OPENSSL = "openssl";
const hasOpenssl = spawnSync(OPENSSL, ["version"]).status === 0;

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

/** With a long timeout unless the test sets one, since a busy machine is slow. */
function open(options: RedisStoreOptions): PoolStore {
  const store = redisStore({ timeoutMs: OVER_MS, ...options });
  started.push(() => store.close());
  return store;
}

let sequence = 0;

function sync(store: PoolStore, said: Partial<SyncRequest> = {}): Promise<SyncReply> {
  sequence++;
  return store.sync({
    pool: "shop/orders/out",
    member: "a",
    nonce: "n",
    sequence,
    size: undefined,
    level: undefined,
    limitsVersion: 0,
    demand: undefined,
    times: TIMES,
    ...said,
  });
}

/** Syncs until a sync is answered; fails after 45 seconds. */
async function syncAgain(store: PoolStore, said: Partial<SyncRequest> = {}): Promise<void> {
  await until(async () => (await sync(store, said)).kind === "counted");
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

/** How many connections there ever were; asking makes one more. */
async function connectionsOf(server: RedisServer): Promise<number> {
  const stats = String(await server.command("INFO", "stats"));
  return Number(/total_connections_received:(\d+)/.exec(stats)?.[1]);
}

/** The ids of the connections that are there, without the one that asks and those of replicas. */
async function clientsOf(server: RedisServer): Promise<string[]> {
  const lines = String(await server.command("CLIENT", "LIST")).split("\n");
  const clients = lines.filter((line) => line.includes("flags=N") && !line.includes("cmd=client"));
  return clients.map((line) => /^id=(\d+)/.exec(line)?.[1] ?? "");
}

describe.skipIf(redisPath === undefined)(`a single server${NEEDS_REDIS}`, () => {
  test("ages are by its clock, and no key outlives the last member by twice the stale age", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    const staleMs = Math.round(1000 * slowness());
    const times = { staleMs, learningMs: 0, resumeTtlMs: Math.round(1.5 * staleMs) };
    await sync(store, { times, level: 5 });
    await store.setLimits("shop/orders/out", "text");
    const reply = await sync(store, { member: "b", times });
    const [seconds] = (await server.command("TIME")) as [string];
    expect(reply).toMatchObject({ live: 2, saved: { level: 5, left: "running" } });
    expect(Math.abs((reply as { storeMs: number }).storeMs / 1000 - Number(seconds))).toBeLessThan(
      2,
    );
    await systemTimer.sleep(1.1 * staleMs);
    expect(await sync(store, { member: "b", times })).toMatchObject({ live: 1 });
    const left = await Promise.all(
      ledgerKeys("shop/orders/out").map(async (key) => Number(await server.command("PTTL", key))),
    );
    expect(Math.min(...left)).toBeGreaterThan(0);
    expect(Math.max(...left)).toBeLessThanOrEqual(2 * staleMs);
    await until(async () => (await server.command("DBSIZE")) === 0);
  });

  test("one that is not there is an error in time, and used as soon as it is", async () => {
    const server = await startServer();
    await server.kill();
    const store = open({ url: server.url });
    const { error, tookMs } = await failureOf(sync(store));
    expect(error).toMatchObject({ code: "STORE" });
    expect(String(error)).toContain("ECONNREFUSED");
    expect(tookMs).toBeLessThan(OVER_MS);
    await server.restart();
    await syncAgain(store);
  });

  test("one that hangs is an error after the timeout, and used again when it goes on", async () => {
    const server = await startServer();
    const store = open({ url: server.url, timeoutMs: TIMEOUT_MS });
    await syncAgain(store);
    const before = await connectionsOf(server);
    server.pause();
    for (let tries = 0; tries < 8; tries++) {
      const { error, tookMs } = await failureOf(sync(store));
      expect(error).toBeInstanceOf(StoreError);
      expect(tookMs).toBeLessThan(OVER_MS);
    }
    server.resume();
    await syncAgain(store);
    // What a hung connection still owes does not pile up: it was given up for another.
    expect(await connectionsOf(server)).toBeGreaterThan(before + 1);
  });

  test("one that hangs from the start, before it has checked the password, is an error in time", async () => {
    const server = await startServer(["requirepass hunter2"]);
    server.pause();
    const store = open({ url: server.url, password: "hunter2", timeoutMs: TIMEOUT_MS });
    const { error, tookMs } = await failureOf(sync(store));
    expect(error).toBeInstanceOf(StoreError);
    expect(tookMs).toBeLessThan(OVER_MS);
    server.resume();
    await syncAgain(store);
  });

  test("one that dies is an error at once; back, and empty, it is used again", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    await sync(store);
    await server.kill();
    const { error, tookMs } = await failureOf(sync(store));
    expect(error).toBeInstanceOf(StoreError);
    expect(tookMs).toBeLessThan(OVER_MS);
    await server.restart();
    await syncAgain(store);
    expect(await sync(store)).toMatchObject({ live: 1 });
  });

  test("one that dies with a sync under way is not sent it again", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    await sync(store);
    server.pause();
    const lost = failureOf(sync(store));
    await nextTurn();
    await server.kill();
    expect((await lost).error).toBeInstanceOf(StoreError);
    await server.restart();
    await syncAgain(store);
    // The one that was made since.
    expect(await callsOf(server)).toMatch(/cmdstat_evalsha:calls=1,/);
  });

  test("one that has forgotten the scripts is sent them", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    await sync(store);
    await server.command("SCRIPT", "FLUSH");
    expect(await sync(store)).toMatchObject({ kind: "counted" });
  });

  test("scripts are sent once, then named", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    for (let tries = 0; tries < 5; tries++) await sync(store);
    expect(await callsOf(server)).toMatch(/cmdstat_eval:calls=1,/);
    expect(await callsOf(server)).toMatch(/cmdstat_evalsha:calls=5,/);
  });

  test("what is under its key and is not ours is an error", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    await server.command("SET", "sluice:{shop/orders/out}:members", "mine");
    expect((await failureOf(sync(store))).error).toMatchObject({ code: "STORE" });
    await server.command("DEL", "sluice:{shop/orders/out}:members");
    await server.command("HSET", "sluice:{shop/orders/out}:members", "b", "who knows");
    const { error } = await failureOf(sync(store));
    expect(error).toMatchObject({ code: "STORE" });
    expect(String(error)).toContain("damaged");
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

  test("its database is the one of the url", async () => {
    const server = await startServer();
    await sync(open({ url: `${server.url}/5` }));
    expect(await server.command("INFO", "keyspace")).toContain("db5:keys=1");
  });

  test("a store that is closed has no connection, and answers nothing", async () => {
    const server = await startServer();
    const store = open({ url: server.url });
    await sync(store);
    await store.close();
    await store.close();
    const { error } = await failureOf(sync(store));
    expect(error).toMatchObject({ code: "STORE", message: "Redis: the store is closed" });
    await until(async () => !String(await server.command("CLIENT", "LIST")).includes("cmd=eval"));
  });

  test("a store that was never used, or never found its server, closes too", async () => {
    await redisStore({ url: "redis://127.0.0.1:1" }).close();
    const store = redisStore({ url: "redis://127.0.0.1:1" });
    await failureOf(sync(store));
    await store.close();
  });

  test.skipIf(!hasOpenssl)(
    "TLS: the server must be the one that its certificate names",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "sluice-tls-"));
      started.push(() => Promise.resolve(rmSync(folder, { recursive: true })));
      const key = join(folder, "key.pem");
      const cert = join(folder, "cert.pem");
      const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
      const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
      const files = ["-keyout", key, "-out", cert, "-days", "2"];
      execFileSync(OPENSSL, ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" });
      const plain = await startServer();
      const { port } = plain;
      await plain.kill();
      const server = await startServer([
        `tls-port ${port}`,
        `tls-cert-file ${cert}`,
        `tls-key-file ${key}`,
        "tls-auth-clients no",
      ]);
      expect(server.port).not.toBe(port);
      const url = `rediss://127.0.0.1:${port}`;
      const ca = readFileSync(cert, "utf8");
      await syncAgain(open({ url, tls: { ca } }));
      // Whoever answers is taken for it.
      await syncAgain(open({ url, tls: { insecureSkipVerify: true } }));
      const unknown = await failureOf(sync(open({ url })));
      expect(String(unknown.error)).toContain("self-signed");
      const other = await failureOf(sync(open({ url, tls: { ca, serverName: "other.example" } })));
      expect(String(other.error)).toContain("other.example");
      const noTls = await failureOf(sync(open({ url: `redis://127.0.0.1:${port}` })));
      expect(noTls.error).toBeInstanceOf(StoreError);
    },
  );
});

describe.skipIf(redisPath === undefined)(`the user of the README${NEEDS_REDIS}`, () => {
  const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
  const [, ...words] = (/^ACL SETUSER .*$/m.exec(readme)?.[0] ?? "").split(" ");
  const login = { username: "sluice", password: "password" };

  test("may do all that the store does, and nothing else", async () => {
    const server = await startServer();
    await server.command("ACL", ...words);
    const store = open({ url: server.url, ...login });
    expect(await sync(store, { level: 1, times: { ...TIMES, resumeTtlMs: 1000 } })).toMatchObject({
      live: 1,
    });
    await store.setLimits("shop/orders/out", "text");
    expect(await sync(store)).toMatchObject({ limits: { version: 1 } });
    await sync(store, { member: "b", times: { ...TIMES, staleMs: 1 } });
    const who = { pool: "shop/orders/out", member: "b", nonce: "n" };
    await store.leave({ ...who, level: 5, reason: "pause", resumeTtlMs: 1000 });
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
      expect(await sync(store, { pool })).toMatchObject({ live: 1 });
  });
});

async function startTrio(): Promise<SentinelTrio> {
  const trio = await startSentinel();
  started.push(() => trio.stop());
  return trio;
}

describe.skipIf(redisPath === undefined)(`Sentinel${NEEDS_REDIS}`, () => {
  test("the store follows the master when it dies", async () => {
    const { masterName, endpoints, master, replica } = await startTrio();
    const store = open({ sentinel: { masterName, endpoints } });
    await syncAgain(store);
    expect(await master.command("DBSIZE")).toBe(1);
    await master.kill();
    expect((await failureOf(sync(store))).error).toBeInstanceOf(StoreError);
    await syncAgain(store);
    expect(String(await replica.command("INFO", "replication"))).toContain("role:master");
    expect(await callsOf(replica)).toContain("cmdstat_evalsha");
  });

  test("the store follows the master when another is made it", async () => {
    const { masterName, endpoints, replica, sentinels } = await startTrio();
    const store = open({ sentinel: { masterName, endpoints } });
    await syncAgain(store);
    await sentinels[0]?.command("SENTINEL", "FAILOVER", masterName);
    // The old master still takes writes: it must be left all the same.
    await until(async () => {
      await sync(store);
      return (await callsOf(replica)).includes("cmdstat_evalsha");
    });
    expect(String(await replica.command("INFO", "replication"))).toContain("role:master");
  });

  test("sentinels that are not there are an error in time", async () => {
    const endpoints = [1, 2, 3].map((port) => ({ host: "127.0.0.1", port }));
    const store = open({ sentinel: { masterName: "m", endpoints }, timeoutMs: TIMEOUT_MS });
    const { error, tookMs } = await failureOf(sync(store));
    expect(error).toMatchObject({ code: "STORE" });
    expect(tookMs).toBeLessThan(OVER_MS);
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
    const sizes = await Promise.all(cluster.servers.map((server) => server.command("DBSIZE")));
    expect(sizes.map(Number).reduce((sum, size) => sum + size, 0)).toBe(pools.length);
    expect(Math.min(...sizes.map(Number))).toBeGreaterThan(0);
    const [, , third] = cluster.servers;
    await third?.kill();
    const outcomes = await Promise.all(pools.map((pool) => failureOf(sync(store, { pool }))));
    for (const { error, tookMs } of outcomes) {
      if (error !== undefined) expect(error).toBeInstanceOf(StoreError);
      expect(tookMs).toBeLessThan(OVER_MS);
    }
    const lost = pools.filter((_pool, index) => outcomes[index]?.error !== undefined);
    expect(lost.length).toBe(Number(sizes[2]));
    await third?.restart();
    for (const pool of pools) await syncAgain(store, { pool });
  });
});
