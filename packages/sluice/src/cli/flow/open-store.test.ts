import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { FlowRedis } from "../../flow/schema/flow-store.ts";
import { openStore } from "./open-store.ts";

/** What ioredis was asked for. */
interface Made {
  readonly kind: "redis" | "cluster";
  readonly args: readonly unknown[];
}

/** The constructors of ioredis, whose clients connect to nothing. */
function fakeIoredis(made: Made[]): object {
  const client = (kind: Made["kind"]) =>
    class {
      readonly isCluster = kind === "cluster";
      constructor(...args: readonly unknown[]) {
        made.push({ kind, args });
      }
      on(): this {
        return this;
      }
      connect(): Promise<never> {
        return Promise.reject(new Error("no server"));
      }
      disconnect(): void {}
    };
  return { Redis: client("redis"), Cluster: client("cluster") };
}

async function clientsOf(redis: FlowRedis): Promise<readonly Made[]> {
  const made: Made[] = [];
  const store = await openStore(redis, () => Promise.resolve(fakeIoredis(made)));
  await expect(store.setLimits("pool", "{}")).rejects.toThrow();
  await store.close();
  return made;
}

test("a URL is one server, with its user, password, TLS and database", async () => {
  const [made] = await clientsOf({ url: "rediss://shop:secret@redis.example:6380/2" });
  expect(made).toMatchObject({
    kind: "redis",
    args: [
      {
        host: "redis.example",
        port: 6380,
        db: 2,
        username: "shop",
        password: "secret",
        tls: expect.any(Object) as object,
      },
    ],
  });
});

test("sentinels are asked for the master of the name; the password comes from its file", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sluice-open-store-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const passwordFile = join(folder, "password");
  await writeFile(passwordFile, "secret\n");
  const endpoints = [
    { host: "s1", port: 26_379 },
    { host: "s2", port: 26_380 },
  ];
  const [made] = await clientsOf({
    sentinel: { masterName: "shop", endpoints, database: 3 },
    username: "gateway",
    passwordFile,
  });
  expect(made).toMatchObject({
    kind: "redis",
    args: [{ name: "shop", sentinels: endpoints, db: 3, username: "gateway", password: "secret" }],
  });
});

test("a cluster is reached by any of its nodes, with the login of the flow file", async () => {
  const nodes = [
    { host: "n1", port: 7_000 },
    { host: "n2", port: 7_001 },
  ];
  const [made] = await clientsOf({ cluster: { nodes }, username: "gateway", tls: true });
  expect(made).toMatchObject({
    kind: "cluster",
    args: [nodes, { redisOptions: { username: "gateway", tls: expect.any(Object) as object } }],
  });
});

test("without ioredis it says what to install", async () => {
  const missing = Promise.reject(new Error("Cannot find package"));
  await expect(openStore({ url: "redis://127.0.0.1" }, () => missing)).rejects.toMatchObject({
    message: "store.redis needs the package ioredis; run: npm install ioredis",
    canHeal: false,
  });
});
