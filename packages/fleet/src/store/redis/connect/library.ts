/** Which client library a store uses, and how an object of one is recognised. */
import { ConfigError } from "@sluice/core";
import { StoreError } from "../../store-error.ts";
import type { OpenConnection, RedisConnection } from "./connection.ts";
import { duplicateIoredis, openIoredis } from "./ioredis.ts";
import type { IoredisLibrary } from "./ioredis.ts";
import { duplicateNodeRedis, openNodeRedis } from "./node-redis.ts";
import type { NodeRedisClient, NodeRedisLibrary } from "./node-redis.ts";
import type { RedisTarget } from "../options/target.ts";

/** The package name of a supported client library. */
export type RedisLibraryName = "ioredis" | "iovalkey" | "redis";

/** Anything that runs scripts as ioredis does, for instance a wrapper or a test double. */
export interface RedisScriptClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** Literal names, so that bundlers find the packages. */
const IMPORTS: Readonly<Record<RedisLibraryName, () => Promise<object>>> = {
  ioredis: () => import("ioredis"),
  iovalkey: () => import("iovalkey"),
  redis: () => import("redis"),
};

/** In this order they are tried if none is chosen. */
export const LIBRARY_NAMES: readonly RedisLibraryName[] = ["ioredis", "iovalkey", "redis"];

/** Loads the chosen library, or the first that is installed. A module is used as it is. */
export async function openerOf(
  target: RedisTarget,
  {
    library,
    timeoutMs,
  }: { readonly library: string | object | undefined; readonly timeoutMs: number },
): Promise<OpenConnection> {
  const loaded = typeof library === "object" ? library : await load(library);
  if (isIoredis(loaded)) return () => openIoredis(loaded, target, timeoutMs);
  if (isNodeRedis(loaded)) return () => openNodeRedis(loaded, target, timeoutMs);
  throw new ConfigError(
    `library is a module without Redis and Cluster, or createClient and createCluster; use that of ioredis from 5 on, iovalkey, or redis from 4.6 on`,
  );
}

/** A connection of the store's own with the settings of the caller's client. */
export function openerLike(client: object, timeoutMs: number): OpenConnection {
  const hasDuplicate = "duplicate" in client;
  if ("evalSha" in client && hasDuplicate)
    return () => duplicateNodeRedis(client as unknown as NodeRedisClient, timeoutMs);
  if ("evalsha" in client && hasDuplicate)
    return () =>
      duplicateIoredis(client as unknown as Parameters<typeof duplicateIoredis>[0], timeoutMs);
  if ("evalsha" in client && "eval" in client)
    return () => connectionOf(client as unknown as RedisScriptClient);
  throw new ConfigError(
    "client has neither evalsha nor evalSha; it must be a client of ioredis, iovalkey or node-redis",
  );
}

async function load(chosen: string | undefined): Promise<object> {
  const names = LIBRARY_NAMES.filter((name) => chosen === undefined || name === chosen);
  let firstError: unknown;
  for (const name of names) {
    try {
      return await IMPORTS[name]();
    } catch (error) {
      firstError ??= error;
    }
  }
  const [name = ""] = names;
  const others = names.slice(1).map((each) => ` or ${each}`);
  throw new StoreError(
    `redisStore cannot load the client library ${name}${others.join("")}; run: npm install ${name}`,
    { canHeal: false, cause: firstError },
  );
}

/** The caller's object is always taken to be connected, and stays open. */
function connectionOf(client: RedisScriptClient): RedisConnection {
  return {
    connect: () => Promise.resolve(),
    isReady: true,
    evalsha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
    eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
    close: () => undefined,
  };
}

function isIoredis(library: object): library is IoredisLibrary {
  return "Redis" in library && "Cluster" in library;
}

function isNodeRedis(library: object): library is NodeRedisLibrary {
  return "createClient" in library && "createCluster" in library;
}
