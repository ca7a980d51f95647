import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { systemTimer } from "@sluice/core/system";
import { LIBRARY_NAMES } from "../connect/library.ts";
import type { RedisLibraryName } from "../connect/library.ts";
import type { RedisAddress, RedisLogin, RedisTarget, RedisTls } from "./target.ts";
import { DATABASE_MAX, parseRedisUrl, URL_SYNTAX } from "./url.ts";

interface LoginOptions {
  /** Default: the URL's, else none: the user `default`. */
  readonly username?: string;
  /** Default: the URL's, else none. */
  readonly password?: string;
  /** Default: `true` for `rediss://`, else `false`. */
  readonly tls?: boolean | RedisTls;
}

interface CommonOptions {
  /** For each call, the connection included; 1 to 60,000. @default 750 */
  readonly timeoutMs?: number;
  /** For tests. Default: the real time. */
  readonly runtime?: { readonly timer?: Timer };
}

interface ConnectingOptions extends CommonOptions, LoginOptions {
  /**
   * The client library, by its package name or as a module: `await import("redis")`. Default: the
   * first of ioredis, iovalkey and redis that is installed.
   */
  readonly library?: RedisLibraryName | object;
}

interface SentinelOptions extends LoginOptions {
  readonly masterName: string;
  /** One to 1,000 sentinels. `username`, `password` and `tls` beside them are for the sentinels. */
  readonly endpoints: readonly RedisAddress[];
  /** Of the master. @default 0 */
  readonly database?: number;
}

interface ClusterOptions {
  /** Some of the nodes; the others are discovered. */
  readonly nodes: readonly RedisAddress[];
}

/** Where Redis or Valkey is, by one of `url`, `sentinel`, `cluster` and `client`. */
export type RedisStoreOptions =
  /** For instance `redis://user:password@host:6379/0`; `rediss://` is with TLS. */
  | (ConnectingOptions & { readonly url: string })
  | (ConnectingOptions & { readonly sentinel: SentinelOptions })
  | (ConnectingOptions & { readonly cluster: ClusterOptions })
  /**
   * A client of ioredis, iovalkey or node-redis. The store opens a connection of its own with the
   * client's settings (`client.duplicate()`); the client itself is not used.
   */
  | (CommonOptions & { readonly client: object });

/** Options once they are checked. */
export interface RedisSettings {
  readonly from: { readonly target: RedisTarget } | { readonly client: object };
  readonly library: string | object | undefined;
  readonly timeoutMs: number;
  readonly timer: Timer;
}

/**
 * Time for one call: the default sync interval and timeout, since a reply counts until the next sync is sent. If it
 * is raised, a dead connection is noticed later; if it is lowered, a busy event loop makes syncs fail.
 */
const TIMEOUT_MS = 750;
const TIMEOUT_MAX_MS = 60_000;
const PORT_MAX = 65_535;
/** Sentinels or nodes; more than any deployment has. */
const ADDRESSES_MAX = 1000;

const COMMON_KEYS = ["timeoutMs", "runtime"];
const LOGIN_KEYS = ["username", "password", "tls"];
const CONNECTING_KEYS = [...COMMON_KEYS, ...LOGIN_KEYS, "library"];
/** The ways to say where Redis is, and the options that go with each. */
const KEYS = {
  url: [...CONNECTING_KEYS, "url"],
  sentinel: [...CONNECTING_KEYS, "sentinel"],
  cluster: [...CONNECTING_KEYS, "cluster"],
  client: [...COMMON_KEYS, "client"],
} as const;
const SENTINEL_KEYS = ["masterName", "endpoints", "database", ...LOGIN_KEYS];
const TLS_KEYS: readonly (keyof RedisTls)[] = [
  "ca",
  "cert",
  "key",
  "serverName",
  "insecureSkipVerify",
];

/** Checks the options. A `ConfigError` says what is expected, and never shows a value. */
export function readRedisOptions(options: RedisStoreOptions): RedisSettings {
  requireObject("redisStore", options);
  requireKeys("redisStore", options, KEYS[placeIn(options)]);
  const { timeoutMs = TIMEOUT_MS, runtime = {} } = options;
  requireWhole("timeoutMs", timeoutMs, 1, TIMEOUT_MAX_MS);
  requireKeys("runtime", runtime, ["timer"]);
  const { timer = systemTimer } = runtime;
  if ("client" in options) {
    requireObject("client", options.client);
    return { from: { client: options.client }, library: undefined, timeoutMs, timer };
  }
  const { library } = options;
  if (typeof library === "string" && !LIBRARY_NAMES.includes(library))
    throw new ConfigError(`library is another text; it must be one of ${LIBRARY_NAMES.join(", ")}`);
  return { from: { target: targetOf(options) }, library, timeoutMs, timer };
}

function placeIn(options: RedisStoreOptions): keyof typeof KEYS {
  const places = Object.keys(KEYS) as (keyof typeof KEYS)[];
  const given = places.filter((place) => place in options);
  const [place] = given;
  if (place !== undefined && given.length === 1) return place;
  const found = given.length === 0 ? "none" : given.join(" and ");
  throw new ConfigError(`redisStore has ${found} of ${places.join(", ")}; it must have one`);
}

function targetOf(options: Exclude<RedisStoreOptions, { readonly client: object }>): RedisTarget {
  const login = loginOf("", options);
  if ("url" in options) return singleOf(options.url, login);
  if ("sentinel" in options) return sentinelOf(options.sentinel, login);
  requireObject("cluster", options.cluster);
  requireKeys("cluster", options.cluster, ["nodes"]);
  const nodes = addressesOf("cluster.nodes", options.cluster.nodes);
  return { ...login, kind: "cluster", nodes };
}

function singleOf(text: string, login: RedisLogin): RedisTarget {
  const url = parseRedisUrl(text);
  if (url === undefined) throw new ConfigError(`url is not a Redis URL; it must be ${URL_SYNTAX}`);
  const { host, port, database = 0, username, password, isTls } = url;
  return {
    kind: "single",
    address: { host, port },
    database,
    username: login.username ?? username,
    password: login.password ?? password,
    tls: login.tls ?? (isTls ? {} : undefined),
  };
}

function sentinelOf(sentinel: SentinelOptions, login: RedisLogin): RedisTarget {
  requireObject("sentinel", sentinel);
  requireKeys("sentinel", sentinel, SENTINEL_KEYS);
  const { masterName, endpoints, database = 0 } = sentinel;
  requireWhole("sentinel.database", database, 0, DATABASE_MAX);
  if (typeof masterName !== "string" || masterName === "")
    throw new ConfigError("sentinel.masterName is missing; it must be the master's name");
  return {
    ...login,
    kind: "sentinel",
    masterName,
    endpoints: addressesOf("sentinel.endpoints", endpoints),
    database,
    sentinelLogin: loginOf("sentinel.", sentinel),
  };
}

function loginOf(prefix: string, { username, password, tls }: LoginOptions): RedisLogin {
  requireText(`${prefix}username`, username);
  requireText(`${prefix}password`, password);
  if (tls === undefined || typeof tls === "boolean")
    return { username, password, tls: tls === true ? {} : undefined };
  requireObject(`${prefix}tls`, tls);
  requireKeys(`${prefix}tls`, tls, TLS_KEYS);
  return { username, password, tls };
}

function addressesOf(name: string, addresses: readonly RedisAddress[]): readonly RedisAddress[] {
  requireList(name, addresses);
  requireWhole(`the number of ${name}`, addresses.length, 1, ADDRESSES_MAX);
  for (const address of addresses) {
    requireObject(name, address);
    requireKeys(name, address, ["host", "port"]);
    if (address.host === "") throw new ConfigError(`${name} has an empty host`);
    requireWhole(`a port of ${name}`, address.port, 1, PORT_MAX);
  }
  return addresses;
}

function requireKeys(what: string, value: object, known: readonly string[]): void {
  requireKnownKeys(what, value, new Set(known));
}

function requireObject(what: string, value: unknown): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new ConfigError(`${what} is ${typeof value}; it must be an object`);
}

function requireList(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw new ConfigError(`${what} must be a list of { host, port }`);
}

function requireText(what: string, value: unknown): void {
  if (value === undefined || typeof value === "string") return;
  throw new ConfigError(`${what} is ${typeof value}; it must be text`);
}
