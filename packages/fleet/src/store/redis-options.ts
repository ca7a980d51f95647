import { ConfigError } from "@sluice/core";
import type { Timer } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { systemTimer } from "@sluice/core/system";

/** What the store needs of a client; those of ioredis and iovalkey have it. */
export interface RedisClient {
  evalsha(sha: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

/** Certificates and keys are PEM. The server's name is checked unless that is switched off. */
export interface RedisTls {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** The name in the server's certificate, if it is not the host's. */
  readonly serverName?: string;
  /** Whoever answers is taken for the store: for trials only. */
  readonly insecureSkipVerify?: boolean;
}

interface RedisSentinel {
  readonly masterName: string;
  readonly endpoints: readonly RedisAddress[];
  /** Of the master; 0 unless given. */
  readonly database?: number;
  /** For the sentinels themselves. */
  readonly username?: string;
  readonly password?: string;
  readonly tls?: boolean | RedisTls;
}

interface RedisCluster {
  /** Some of its nodes; the others are found. */
  readonly nodes: readonly RedisAddress[];
}

interface RedisWaiting {
  /** For the connection and for every command; 250 unless given. */
  readonly timeoutMs?: number;
  readonly runtime?: { readonly timer?: Timer };
}

interface RedisLogin extends RedisWaiting {
  readonly username?: string;
  readonly password?: string;
  readonly tls?: boolean | RedisTls;
}

/** Where Redis is; a `client` is the caller's own, and stays open. */
export type RedisStoreOptions =
  /** Such as `redis://user:password@host:6379/0`, or `rediss://` with TLS. */
  | (RedisLogin & { readonly url: string })
  | (RedisLogin & { readonly sentinel: RedisSentinel })
  | (RedisLogin & { readonly cluster: RedisCluster })
  | (RedisWaiting & { readonly client: RedisClient });

/** Where and how to connect. */
export interface RedisTarget {
  readonly kind: "single" | "sentinel" | "cluster";
  readonly addresses: readonly RedisAddress[];
  readonly database: number;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: RedisTls | undefined;
  readonly sentinel: RedisSentinelLogin | undefined;
}

interface RedisSentinelLogin {
  readonly masterName: string;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly tls: RedisTls | undefined;
}

/** The options once they are checked. */
export interface RedisSettings {
  readonly target: RedisTarget | RedisClient;
  readonly timeoutMs: number;
  readonly timer: Timer;
}

const TIMEOUT_MS = 250;
const TIMEOUT_MAX_MS = 60_000;
const PORT = 6379;
const PORT_MAX = 65_535;
const DATABASE = /^\/?(\d{0,4})$/;
const DATABASE_MAX = 9999;
const ADDRESSES_MAX = 1000;

/** Where Redis can be said to be. */
const PLACES = ["url", "sentinel", "cluster", "client"];
const WAITING_KEYS = ["timeoutMs", "runtime"];
const LOGIN_KEYS = [...WAITING_KEYS, "username", "password", "tls"];
const SENTINEL_KEYS = ["masterName", "endpoints", "database", "username", "password", "tls"];

/** Checks the options; a `ConfigError` says what would be right, and never a password. */
export function readRedisOptions(options: RedisStoreOptions): RedisSettings {
  requireObject("redisStore", options);
  const { timeoutMs = TIMEOUT_MS, runtime = {} } = options;
  requireWhole("timeoutMs", timeoutMs, 1, TIMEOUT_MAX_MS);
  requireKnownKeys("runtime", runtime, new Set(["timer"]));
  const { timer = systemTimer } = runtime;
  return { target: targetOf(options), timeoutMs, timer };
}

function targetOf(options: RedisStoreOptions): RedisTarget | RedisClient {
  const told = PLACES.filter((place) => place in options);
  if (told.length !== 1)
    throw new ConfigError(
      `redisStore is told ${told.join(" and ") || "none"} of ${PLACES.join(", ")}; it must be one`,
    );
  if ("client" in options) {
    requireKnownKeys("redisStore", options, new Set([...WAITING_KEYS, "client"]));
    const { client } = options;
    requireObject("client", client);
    if (typeof client.evalsha !== "function" || typeof client.eval !== "function")
      throw new ConfigError("client has no evalsha; it must be one of ioredis, or like it");
    return client;
  }
  const { username, password } = options;
  requireText("username", username);
  requireText("password", password);
  const login = { username, password, tls: tlsOf("tls", options.tls), database: 0 };
  if ("url" in options) {
    requireKnownKeys("redisStore", options, new Set([...LOGIN_KEYS, "url"]));
    const read = readUrl(options.url);
    return {
      ...login,
      ...read,
      kind: "single",
      username: username ?? read.username,
      password: password ?? read.password,
      tls: login.tls ?? read.tls,
      sentinel: undefined,
    };
  }
  if ("sentinel" in options) {
    requireKnownKeys("redisStore", options, new Set([...LOGIN_KEYS, "sentinel"]));
    const { sentinel } = options;
    requireObject("sentinel", sentinel);
    requireKnownKeys("sentinel", sentinel, new Set(SENTINEL_KEYS));
    requireText("sentinel.username", sentinel.username);
    requireText("sentinel.password", sentinel.password);
    const { database = 0 } = sentinel;
    requireWhole("sentinel.database", database, 0, DATABASE_MAX);
    if (typeof sentinel.masterName !== "string" || sentinel.masterName === "")
      throw new ConfigError(`sentinel.masterName is not there; it must be the master's name`);
    return {
      ...login,
      database,
      kind: "sentinel",
      addresses: addressesOf("sentinel.endpoints", sentinel.endpoints),
      sentinel: {
        masterName: sentinel.masterName,
        username: sentinel.username,
        password: sentinel.password,
        tls: tlsOf("sentinel.tls", sentinel.tls),
      },
    };
  }
  if ("cluster" in options) {
    requireKnownKeys("redisStore", options, new Set([...LOGIN_KEYS, "cluster"]));
    requireObject("cluster", options.cluster);
    requireKnownKeys("cluster", options.cluster, new Set(["nodes"]));
    const addresses = addressesOf("cluster.nodes", options.cluster.nodes);
    return { ...login, kind: "cluster", addresses, sentinel: undefined };
  }
  throw new ConfigError(`redisStore must be told one of ${PLACES.join(", ")}`);
}

function readUrl(
  text: string,
): Pick<RedisTarget, "addresses" | "database" | "username" | "password" | "tls"> {
  const url = parseUrl(text);
  const [, database = ""] = DATABASE.exec(url?.pathname ?? "") ?? [undefined, undefined];
  const isKnown = url?.protocol === "redis:" || url?.protocol === "rediss:";
  const isPlain = url?.search === "" && url.hash === "" && DATABASE.test(url.pathname);
  const username = decode(url?.username ?? "");
  const password = decode(url?.password ?? "");
  const isReadable = username !== undefined && password !== undefined;
  if (url === undefined || !isKnown || !isPlain || url.hostname === "" || !isReadable)
    // The text itself may hold a password.
    throw new ConfigError(
      "url must be redis://[user:password@]host[:port][/database], or rediss://",
    );
  return {
    addresses: [
      {
        host: url.hostname.replaceAll(/^\[|\]$/g, ""),
        port: url.port === "" ? PORT : Number(url.port),
      },
    ],
    database: Number(database),
    username: username === "" ? undefined : username,
    password: password === "" ? undefined : password,
    tls: url.protocol === "rediss:" ? {} : undefined,
  };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}

/** Undefined if it was encoded in a way that nobody can read. */
function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function addressesOf(name: string, addresses: readonly RedisAddress[]): readonly RedisAddress[] {
  requireList(name, addresses);
  requireWhole(`the number of ${name}`, addresses.length, 1, ADDRESSES_MAX);
  for (const address of addresses) {
    requireObject(name, address);
    requireKnownKeys(name, address, new Set(["host", "port"]));
    if (address.host === "") throw new ConfigError(`${name} has an empty host`);
    requireWhole(`a port of ${name}`, address.port, 1, PORT_MAX);
  }
  return addresses;
}

function tlsOf(name: string, tls: boolean | RedisTls | undefined): RedisTls | undefined {
  if (tls === undefined || tls === false) return undefined;
  if (tls === true) return {};
  requireKnownKeys(name, tls, new Set(["ca", "cert", "key", "serverName", "insecureSkipVerify"]));
  return tls;
}

function requireObject(what: string, value: unknown): void {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return;
  throw new ConfigError(`${what} is ${typeof value}; it must be an object`);
}

function requireList(what: string, value: unknown): void {
  if (!Array.isArray(value)) throw new ConfigError(`${what} must be a list of { host, port }`);
}

/** Its value is never shown. */
function requireText(what: string, value: unknown): void {
  if (value === undefined || typeof value === "string") return;
  throw new ConfigError(`${what} is ${typeof value}; it must be text`);
}
