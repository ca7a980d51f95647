import { redisStore, StoreError } from "@sluice/fleet";
import type { PoolStore, RedisStoreOptions } from "@sluice/fleet";
import type { FlowRedis, FlowStore } from "../../flow/schema/flow-store.ts";
import { contentOf } from "../../file/content.ts";

/** The store of a flow file. It connects when it is first used. */
export async function openStore(
  redis: FlowRedis,
  importLibrary: () => Promise<object> = () => import("ioredis"),
): Promise<PoolStore> {
  return redisStore({ ...(await optionsOf(redis)), library: await loadIoredis(importLibrary) });
}

/** The address of a store for people, without its login. */
export function shownStore(store: FlowStore): string {
  if (store === "memory") return store;
  const { url, sentinel, cluster } = store.redis;
  if (url !== undefined) {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
  }
  const [first, ...more] = sentinel?.endpoints ?? cluster?.nodes ?? [];
  const others = more.length === 0 ? "" : ` and ${more.length} more`;
  const of = sentinel === undefined ? "cluster" : `${sentinel.masterName}, sentinel`;
  return first === undefined ? of : `${of} ${first.host}:${first.port}${others}`;
}

async function optionsOf(
  redis: FlowRedis,
): Promise<Exclude<RedisStoreOptions, { readonly client: object }>> {
  const { url, sentinel, cluster, username, passwordFile, tls } = redis;
  const login = {
    ...(username !== undefined && { username }),
    ...(passwordFile !== undefined && {
      password: (await contentOf(passwordFile)).toString("utf8").trim(),
    }),
    ...(tls !== undefined && { tls }),
  };
  if (url !== undefined) return { ...login, url };
  if (cluster !== undefined) return { ...login, cluster };
  const { masterName = "", endpoints = [], database = 0 } = sentinel ?? {};
  return { ...login, sentinel: { masterName, endpoints, database } };
}

/** It is not installed with sluice: most gateways have no store. */
async function loadIoredis(importLibrary: () => Promise<object>): Promise<object> {
  try {
    return await importLibrary();
  } catch (cause) {
    throw new StoreError("store.redis needs the package ioredis; run: npm install ioredis", {
      canHeal: false,
      cause,
    });
  }
}
