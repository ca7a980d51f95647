/** What every client library must do alike, on real servers of Redis and of Valkey. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { SeededRandom } from "@sluice/core";
import { nextTurn, systemTimer } from "@sluice/core/system";
import { Redis } from "ioredis";
import { createSentinel } from "redis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { PoolStore, SyncReply } from "../src/store/pool-store.ts";
import { ledgerKeys } from "../src/store/redis/script/arguments.ts";
import type { RedisStoreOptions } from "../src/store/redis/options/options.ts";
import { PIECE_LENGTH } from "@sluice/core/internal";
import { loadScripts } from "../src/store/redis/script/scripts.ts";
import { redisStore } from "../src/store/redis/store.ts";
import type { StoreError } from "../src/store/store-error.ts";
import { syncRequest } from "./requests.ts";
import { LIBRARIES } from "./redis-libraries.ts";
import type { TestedLibrary } from "./redis-libraries.ts";
import {
  NEEDS_REDIS,
  redisPath,
  RedisServer,
  slowness,
  startCluster,
  startSentinel,
  until,
  valkeyPath,
} from "./redis-server.ts";
import type { ClusterOfThree, SentinelTrio } from "./redis-server.ts";

const TIMEOUT_MS = 250;
/** Most time that a call may take: the timeout and what a busy machine adds. */
const OVER_MS = Math.round(3000 * slowness());
const OPENSSL = "openssl";
const hasOpenssl = spawnSync(OPENSSL, ["version"]).status === 0;
const README = readFileSync(new URL("../README.md", import.meta.url), "utf8");
/** The user that the README creates: `ACL SETUSER sluice on >password …`. */
const [, ...USER] = (/^ACL SETUSER .*$/m.exec(README)?.[0] ?? "").split(" ");
const USER_LOGIN = { username: "sluice", password: "password" };

const SERVERS = [
  { name: "Redis", program: redisPath },
  { name: "Valkey", program: valkeyPath },
];

/** Everything that a test has started, stopped in reverse order. */
const started: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const stop of started.splice(0).toReversed()) await stop();
});

function open(options: RedisStoreOptions): PoolStore {
  const store = redisStore({ timeoutMs: OVER_MS, ...options });
  started.push(() => store.close());
  return store;
}

let sequence = 0;

function sync(store: PoolStore, pool: string = "shop/orders"): Promise<SyncReply> {
  sequence++;
  return store.sync(syncRequest({ pool, sequence }));
}

async function syncAgain(store: PoolStore, pool?: string): Promise<void> {
  await until(async () => (await sync(store, pool)).kind === "told");
}

async function failureOf(call: Promise<unknown>): Promise<{ error: StoreError; tookMs: number }> {
  const startMs = systemTimer.now();
  const error: unknown = await call.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  return { error: error as StoreError, tookMs: systemTimer.now() - startMs };
}

async function evalshaCalls(server: RedisServer): Promise<number> {
  const stats = String(await server.command("INFO", "commandstats"));
  return Number(/cmdstat_evalsha:calls=(\d+),/.exec(stats)?.[1] ?? 0);
}

/** How many connections the server ever had; asking makes one more. */
async function connectionsOf(server: RedisServer): Promise<number> {
  const stats = String(await server.command("INFO", "stats"));
  return Number(/total_connections_received:(\d+)/.exec(stats)?.[1]);
}

/** Fails if the secret, or 8 characters of it, are anywhere in an error, its stack and its causes. */
function expectHidden(error: unknown, secret: string): void {
  const shown = inspect(error, { depth: 10, showHidden: true, maxStringLength: null });
  const length = Math.min(secret.length, PIECE_LENGTH);
  for (let at = 0; at + length <= secret.length; at++)
    expect(shown).not.toContain(secret.slice(at, at + length));
}

/** Digits that look random and are the same in every run. */
function digits(length: number, seed: number): string {
  const random = new SeededRandom(seed);
  return Array.from({ length }, () => Math.floor(random.next() * 10)).join("");
}

test("the user of the README may call what the scripts call, and nothing else", () => {
  const { sync: syncing, leave, setLimits } = loadScripts();
  const texts = [syncing, leave, setLimits].map(({ text }) => text).join("");
  const called = [...texts.matchAll(/redis\.p?call\("([A-Z]+)"/g)].map(
    ([, name = ""]) => `+${name}`,
  );
  const needed = new Set(["+EVAL", "+EVALSHA", ...called]);
  const granted = USER.filter((word) => word.startsWith("+")).map((word) => word.toUpperCase());
  expect(granted.toSorted()).toEqual([...needed].toSorted());
});

describe.each(SERVERS)("a server of $name", ({ name, program }) => {
  const missing = program === undefined ? ` (skipped: no ${name} server here)` : "";

  async function startServer(settings: readonly string[] = []): Promise<RedisServer> {
    const server = await RedisServer.start(settings, program);
    started.push(() => server.stop());
    return server;
  }

  describe.skipIf(program === undefined).each(LIBRARIES)(`by $name${missing}`, (tested) => {
    test("is sent each script once, and works in the database of the URL", async () => {
      const server = await startServer();
      const store = open({ url: `${server.url}/5`, library: await tested.load() });
      for (let tries = 0; tries < 3; tries++)
        expect(await sync(store)).toMatchObject({ kind: "told", members: 1 });
      const stats = String(await server.command("INFO", "commandstats"));
      expect(stats).toMatch(/cmdstat_eval:calls=1,/);
      expect(stats).toMatch(/cmdstat_evalsha:calls=3,/);
      expect(await server.command("INFO", "keyspace")).toContain("db5:keys=3");
      await store.close();
      expect((await failureOf(sync(store))).error.message).toBe("Redis: the store is closed");
      await until(async () => !String(await server.command("CLIENT", "LIST")).includes("cmd=eval"));
    });

    test("that is down is an error that can heal, and is used once it is back", async () => {
      const server = await startServer();
      await server.kill();
      const store = open({ url: server.url, library: await tested.load() });
      const { error, tookMs } = await failureOf(sync(store));
      expect(error).toMatchObject({ code: "STORE", canHeal: true });
      expect(error.message).toContain("ECONNREFUSED");
      expect(tookMs).toBeLessThan(OVER_MS);
      await server.restart();
      await syncAgain(store);
      await server.kill();
      expect((await failureOf(sync(store))).error).toMatchObject({ code: "STORE", canHeal: true });
      await server.restart();
      await syncAgain(store);
    });

    test("that hangs is an error in time that can heal, and is used once it goes on", async () => {
      const server = await startServer();
      const library = await tested.load();
      const store = open({ url: server.url, library, timeoutMs: TIMEOUT_MS });
      await syncAgain(store);
      const before = await connectionsOf(server);
      server.pause();
      for (let tries = 0; tries < 6; tries++) {
        const { error, tookMs } = await failureOf(sync(store));
        expect(error).toMatchObject({ code: "STORE", canHeal: true });
        expect(tookMs).toBeLessThan(OVER_MS);
      }
      server.resume();
      await syncAgain(store);
      // The hung connection was replaced, so that calls without an answer do not pile up on it.
      expect(await connectionsOf(server)).toBeGreaterThan(before + 1);
    });

    test("that dies with a sync in flight is not sent that sync again", async () => {
      const server = await startServer();
      const store = open({ url: server.url, library: await tested.load() });
      await sync(store);
      server.pause();
      const lost = failureOf(sync(store));
      await nextTurn();
      await server.kill();
      expect((await lost).error).toMatchObject({ code: "STORE", canHeal: true });
      await server.restart();
      await syncAgain(store);
      expect(await evalshaCalls(server)).toBe(1);
    });

    test("that refuses the login or a command is an error that cannot heal and shows no secret", async () => {
      const password = `right ${"päss/w%rd".repeat(30)}`;
      const server = await startServer([`requirepass "${password}"`]);
      const library = await tested.load();
      await syncAgain(open({ url: server.url, password, library }));
      const wrong = `wrong-${"0123456789abcdef".repeat(50)}`;
      const encoded = encodeURIComponent(password);
      for (const options of [
        { url: server.url },
        { url: server.url, password: wrong },
        { url: `redis://:${wrong}@127.0.0.1:${server.port}` },
        { url: `redis://${wrong}:${encoded}@127.0.0.1:${server.port}` },
      ]) {
        const { error } = await failureOf(sync(open({ ...options, library })));
        expect(error).toMatchObject({ code: "STORE", canHeal: false });
        expectHidden(error, wrong);
        expectHidden(error, password);
      }
    });

    test("that repeats its login in an error does not get a secret of any length into ours", async () => {
      // Redis shows the first 128 bytes of the arguments of a command that it does not know.
      const server = await startServer(["rename-command AUTH NO-AUTH"]);
      const library = await tested.load();
      for (const length of [1, 2, 7, 8, 9, 30, 64, 120, 127, 128, 129, 500, 1000]) {
        // Messages of servers and libraries contain no digits.
        const password = digits(length, 7919 * length);
        const username = digits(length, 104_729 * length + 1);
        const url = `redis://${username}:${password}@127.0.0.1:${server.port}`;
        const { error } = await failureOf(sync(open({ url, library })));
        expect(error).toMatchObject({ code: "STORE", canHeal: false });
        expect(error.message).toMatch(/unknown command.*auth.*\*\*\*/i);
        for (const secret of [username, password]) expectHidden(error.message, secret);
        expectHidden(error, password.padEnd(PIECE_LENGTH, "-"));
      }
    });

    test("lets the user of the README do what the store needs", async () => {
      const server = await startServer();
      await server.command("ACL", ...USER);
      const store = open({ url: server.url, ...USER_LOGIN, library: await tested.load() });
      expect(await sync(store)).toMatchObject({ members: 1 });
      expect(await server.command("ACL", "LOG")).toEqual([]);
      await server.command("ACL", "SETUSER", "sluice", "-hset");
      const { error } = await failureOf(sync(store));
      expect(error).toMatchObject({ code: "STORE", canHeal: false });
    });

    test("gets a connection apart from the caller's client, on which nothing is queued", async () => {
      const server = await startServer();
      const caller = await tested.connect(server.url);
      started.push(() => caller.close());
      const store = open({ client: caller.client });
      expect(await sync(store)).toMatchObject({ kind: "told" });
      await server.kill();
      for (let tries = 0; tries < 3; tries++) {
        const { error, tookMs } = await failureOf(sync(store));
        expect(error).toMatchObject({ code: "STORE", canHeal: true });
        expect(tookMs).toBeLessThan(OVER_MS);
      }
      await server.restart();
      await until(async () => (await caller.ping()) === "PONG");
      expect(await evalshaCalls(server)).toBe(0);
      await syncAgain(store);
      await store.close();
      expect(await caller.ping()).toBe("PONG");
    });
  });
});

describe.skipIf(redisPath === undefined)(`TLS${NEEDS_REDIS}`, () => {
  const folder = mkdtempSync(join(tmpdir(), "sluice-tls-"));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.skipIf(!hasOpenssl).each(LIBRARIES)(
    "a certificate that is not trusted cannot heal, by $name",
    async (tested) => {
      const { cert, key } = certificateIn(folder);
      const plain = await RedisServer.start();
      const { port } = plain;
      await plain.stop();
      const files = [`tls-cert-file ${cert}`, `tls-key-file ${key}`, "tls-auth-clients no"];
      const server = await RedisServer.start([`tls-port ${port}`, ...files]);
      started.push(() => server.stop());
      const library = await tested.load();
      const url = `rediss://127.0.0.1:${port}`;
      const ca = readFileSync(cert, "utf8");
      await syncAgain(open({ url, library, tls: { ca } }));
      await syncAgain(open({ url, library, tls: { insecureSkipVerify: true } }));
      const untrusted = await failureOf(sync(open({ url, library })));
      expect(untrusted.error).toMatchObject({ canHeal: false });
      expect(untrusted.error.message).toContain("self-signed");
      const tls = { ca, serverName: "other.example" };
      const other = await failureOf(sync(open({ url, library, tls })));
      expect(other.error).toMatchObject({ canHeal: false });
      expect(other.error.message).toContain("other.example");
    },
  );
});

/** A certificate of 127.0.0.1, signed by itself, made once. */
function certificateIn(folder: string): { cert: string; key: string } {
  const key = join(folder, "key.pem");
  const cert = join(folder, "cert.pem");
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert, "-days", "2"];
  execFileSync(OPENSSL, ["req", "-x509", ...kind, ...names, ...files], { stdio: "ignore" });
  return { cert, key };
}

describe.skipIf(redisPath === undefined)(`Sentinel${NEEDS_REDIS}`, () => {
  let trio: SentinelTrio;
  beforeAll(async () => {
    trio = await startSentinel();
  });
  afterAll(() => trio.stop());

  test("every library finds the master, and the new master after a failover", async () => {
    const { masterName, endpoints, replica, sentinels } = trio;
    const pools = LIBRARIES.map(({ name }) => name.replace(" ", "-"));
    const stores = await Promise.all(
      LIBRARIES.map(async ({ load }) =>
        open({ sentinel: { masterName, endpoints }, library: await load() }),
      ),
    );
    const syncAll = (): Promise<unknown> =>
      Promise.all(stores.map((store, index) => syncAgain(store, pools[index])));
    await syncAll();
    await sentinels[0]?.command("SENTINEL", "FAILOVER", masterName);
    await until(async () =>
      String(await replica.command("INFO", "replication")).includes("role:master"),
    );
    // What was replicated is gone: members that are there came over connections to the new master.
    await replica.command("FLUSHALL");
    const members = pools.map((pool) => ledgerKeys(pool)[0] ?? "");
    await until(async () => {
      await syncAll();
      return (await replica.command("EXISTS", ...members)) === pools.length;
    });
  });

  test("the caller's sentinel client is followed", async () => {
    const { masterName, endpoints } = trio;
    const byIoredis = new Redis({ name: masterName, sentinels: [...endpoints] });
    started.push(() => byIoredis.disconnect());
    const bySentinel = createSentinel({ name: masterName, sentinelRootNodes: [...endpoints] });
    bySentinel.on("error", () => undefined);
    await bySentinel.connect();
    started.push(() => bySentinel.destroy());
    await syncAgain(open({ client: byIoredis }), "by-ioredis");
    await syncAgain(open({ client: bySentinel }), "by-sentinel");
  });

  test.each(LIBRARIES)(
    "sentinels that are down are an error that can heal, by $name",
    async (tested) => {
      const downs = [1, 2].map((port) => ({ host: "127.0.0.1", port }));
      const sentinel = { masterName: "m", endpoints: downs };
      const { error, tookMs } = await failureOf(
        sync(open({ sentinel, library: await tested.load() })),
      );
      expect(error).toMatchObject({ code: "STORE", canHeal: true });
      expect(tookMs).toBeLessThan(OVER_MS);
    },
  );
});

function poolsOf({ name }: TestedLibrary): string[] {
  return ["a", "b", "c", "d", "e", "f"].map((pool) => `${name.replace(" ", "-")}/${pool}`);
}

describe.skipIf(redisPath === undefined)(`Cluster${NEEDS_REDIS}`, () => {
  let cluster: ClusterOfThree;
  beforeAll(async () => {
    cluster = await startCluster(["cluster-require-full-coverage no"]);
    for (const server of cluster.servers) await server.command("ACL", ...USER, "+cluster|slots");
  });
  afterAll(() => cluster.stop());

  test.each(LIBRARIES)("every pool is on its node, with few rights, by $name", async (tested) => {
    const nodes = cluster.nodes.slice(0, 1);
    const store = open({ cluster: { nodes }, ...USER_LOGIN, library: await tested.load() });
    for (const pool of poolsOf(tested))
      expect(await sync(store, pool)).toMatchObject({ members: 1 });
  });

  test.each(LIBRARIES)("the caller's cluster client is followed, by $name", async (tested) => {
    const caller = await tested.connectCluster(cluster.nodes);
    started.push(() => caller.close());
    const store = open({ client: caller.client });
    for (const pool of poolsOf(tested)) await syncAgain(store, pool);
  });

  test.each(LIBRARIES)("a wrong password cannot heal, by $name", async (tested) => {
    const password = "0123456789abcdef".repeat(20);
    const login = { username: "sluice", password };
    const { nodes, servers } = cluster;
    // Clients that go on after a refused login have the rights of the default user.
    const allow = (...rights: readonly string[]): Promise<unknown> =>
      Promise.all(servers.map((server) => server.command("ACL", "SETUSER", "default", ...rights)));
    await allow("-eval", "-evalsha");
    started.push(async () => void (await allow("+eval", "+evalsha")));
    const store = open({ cluster: { nodes }, ...login, library: await tested.load() });
    const { error } = await failureOf(sync(store));
    expect(error).toMatchObject({ code: "STORE", canHeal: false });
    expectHidden(error, password);
  });
});
