import { ConfigError } from "@sluice/core";
import { DATABASE_MAX, parseRedisUrl, URL_SYNTAX } from "../store/redis/options/url.ts";
import { Secret } from "./secret.ts";
import { readSentinel } from "./sentinel-settings.ts";
import type { Reading, SentinelBlock, SentinelSettings } from "./sentinel-settings.ts";
import type { SettingsMap } from "./settings-map.ts";

/** Numaflow's `store`, as it is written. */
export interface StoreBlock {
  readonly redisStore?: RedisStoreBlock;
  /** For one process; every replica has the whole limit. */
  readonly inMemoryStore?: Readonly<Record<string, never>>;
}

interface RedisStoreBlock {
  readonly mode: "single" | "sentinel";
  /** In single mode; may contain the credentials; `rediss:` is with TLS. */
  readonly url?: string;
  readonly db?: number;
  readonly sentinel?: SentinelBlock;
}

/** The store of a pool, checked. Its secrets show as `***`; `reveal()` gives the text. */
export type StoreSettings = { readonly kind: "memory" } | SingleSettings | SentinelStoreSettings;

export interface SingleSettings {
  readonly kind: "redis";
  readonly mode: "single";
  /** With the database of `db`, if the block has one. */
  readonly url: Secret;
}

export interface SentinelStoreSettings extends SentinelSettings {
  readonly kind: "redis";
  readonly mode: "sentinel";
  readonly db: number;
}

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
  const db = redis.whole("db", 0, DATABASE_MAX);
  if (mode === "single") return { kind: "redis", mode, url: readUrl(redis, db) };
  return { kind: "redis", mode, db: db ?? 0, ...readSentinel(redis, reading) };
}

/** No error shows the URL, which may contain a password. */
function readUrl(redis: SettingsMap, db: number | undefined): Secret {
  if (!redis.has("url")) throw redis.error("url", URL_SYNTAX);
  const text = redis.get("url");
  const url = parseRedisUrl(text);
  if (url === undefined || typeof text !== "string") {
    throw new ConfigError(`${redis.at("url")} is not a Redis URL; it must be ${URL_SYNTAX}`);
  }
  if (db !== undefined && url.database !== undefined && url.database !== db) {
    throw redis.error("db", `${url.database}, as in the url, or not be there`);
  }
  const full = new URL(text);
  if (db !== undefined) full.pathname = `/${db}`;
  return new Secret(full.href, withoutLogin(full));
}

function withoutLogin(url: URL): string {
  const shown = new URL(url);
  if (shown.username !== "") shown.username = "***";
  if (shown.password !== "") shown.password = "***";
  return shown.href;
}
