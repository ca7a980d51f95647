import { ConfigError } from "@sluice/core";
import { readSentinel } from "./sentinel-settings.ts";
import type { Reading, SentinelBlock, SentinelSettings } from "./sentinel-settings.ts";
import type { SettingsMap } from "./settings-map.ts";

/** As it is written. */
export interface StoreBlock {
  readonly redisStore?: RedisStoreBlock;
  /** Of one process: every replica has the whole limit. */
  readonly inMemoryStore?: Readonly<Record<string, never>>;
}

interface RedisStoreBlock {
  readonly mode: "single" | "sentinel";
  /** In single mode; it may contain the credentials, and `rediss:` means TLS. */
  readonly url?: string;
  readonly db?: number;
  readonly sentinel?: SentinelBlock;
}

/** Where a pool meets, ready to be opened. It contains secrets in clear text: not for a log. */
export type StoreSettings = { readonly kind: "memory" } | SingleSettings | SentinelStoreSettings;

export interface SingleSettings {
  readonly kind: "redis";
  readonly mode: "single";
  /** With the number of the database, if one was given anywhere. */
  readonly url: string;
}

export interface SentinelStoreSettings extends SentinelSettings {
  readonly kind: "redis";
  readonly mode: "sentinel";
  readonly db: number;
}

const DB_MAX = 9999;

/** Reads the `store` of a `rateLimit` block; undefined if there is none. */
export function readStore(block: SettingsMap, reading: Reading): StoreSettings | undefined {
  const store = block.map("store", ["redisStore", "inMemoryStore"]);
  if (store === undefined) return undefined;
  if (store.keys.length !== 1) {
    const given = store.keys.length === 0 ? "no store" : "both redisStore and inMemoryStore";
    throw new ConfigError(`${block.at("store")} has ${given}; it must have one`);
  }
  const redis = store.map("redisStore", ["mode", "url", "db", "sentinel"]);
  if (redis === undefined) {
    store.map("inMemoryStore", []);
    return { kind: "memory" };
  }
  if (redis.get("mode") === "cluster") {
    throw redis.error("mode", "single or sentinel; a cluster is given as the store itself");
  }
  const mode = redis.oneOf("mode", ["single", "sentinel"]);
  if (mode === undefined) throw redis.error("mode", "single or sentinel");
  const unused = mode === "single" ? "sentinel" : "url";
  if (redis.has(unused)) {
    throw new ConfigError(`${redis.at(unused)} is not used in ${mode} mode; it must not be there`);
  }
  const db = redis.whole("db", 0, DB_MAX);
  if (mode === "single") return { kind: "redis", mode, url: readUrl(redis, db) };
  return { kind: "redis", mode, db: db ?? 0, ...readSentinel(redis, reading) };
}

/** No error shows the url, in which a password may stand. */
function readUrl(redis: SettingsMap, db: number | undefined): string {
  const expected = "redis://[user:password@]host[:port][/db], or rediss:// for TLS";
  if (!redis.has("url")) throw redis.error("url", expected);
  const url = parseRedisUrl(redis.get("url"));
  if (url === undefined) {
    throw new ConfigError(`${redis.at("url")} is no such url; it must be ${expected}`);
  }
  const path = url.pathname.replace("/", "");
  if (db !== undefined && path !== "" && Number(path) !== db) {
    throw redis.error("db", `${Number(path)}, as in the url, or not be there`);
  }
  if (db !== undefined) url.pathname = `/${db}`;
  return url.href;
}

function parseRedisUrl(text: unknown): URL | undefined {
  if (typeof text !== "string" || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const isRedis = url.protocol === "redis:" || url.protocol === "rediss:";
  const isPlain = url.search === "" && url.hash === "" && /^\/?\d{0,4}$/.test(url.pathname);
  const isWhole = isRedis && isPlain && url.hostname !== "";
  return isWhole && isDecodable(url.username) && isDecodable(url.password) ? url : undefined;
}

function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}
