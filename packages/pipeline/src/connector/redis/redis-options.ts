import { ConfigError } from "@sluice/core";
import { requireWhole } from "@sluice/core/internal";
import type { Redis, RedisOptions } from "ioredis";
import { shown } from "../check-options.ts";
import { loadLibrary } from "../load-library.ts";

/** Where Redis or Valkey is: one of `url` and `client`. */
export interface RedisConnectionOptions {
  /**
   * `redis://[user:password@]host[:port][/database]`, or `rediss://` for TLS.
   * Default: none; `url` or `client` is needed.
   */
  readonly url?: string | undefined;
  /**
   * A client of ioredis whose settings are used, e.g. for Sentinel: the connector opens connections of its own (`client.duplicate()`).
   * Default: none.
   */
  readonly client?: Redis | undefined;
  /** For each call, the connection included, ms; 1 to 60,000. A read may wait longer for messages. @default 5000 */
  readonly timeoutMs?: number | undefined;
}

export const CONNECTION_KEYS: readonly string[] = ["url", "client", "timeoutMs"];

const TIMEOUT_MS = 5000;
const TIMEOUT_MAX_MS = 60_000;
const URL_SYNTAX = "redis://[user:password@]host[:port][/database], or rediss:// for TLS";

/** Options once they are checked. */
export interface RedisConnecting {
  /** Makes a client that is not connected yet, and does not connect again by itself. */
  readonly connect: () => Promise<Redis>;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
}

/** `what` names the connector in errors. */
export function readConnection(what: string, options: RedisConnectionOptions): RedisConnecting {
  const { url, client, timeoutMs = TIMEOUT_MS } = options;
  requireWhole(`timeoutMs of ${what}`, timeoutMs, 1, TIMEOUT_MAX_MS);
  if ((url === undefined) === (client === undefined))
    throw new ConfigError(
      `${what} has ${url === undefined ? "neither url nor client" : "both url and client"}; give one, e.g. url: "redis://localhost:6379"`,
    );
  const once = connectingOnce(timeoutMs);
  if (client !== undefined) {
    if (typeof client !== "object" || !("duplicate" in client) || client.isCluster)
      throw new ConfigError(`client of ${what} is ${shown(client)}; use new Redis(…) of ioredis`);
    const { password } = client.options;
    return {
      connect: () => Promise.resolve(client.duplicate(once)),
      secrets: typeof password === "string" && password !== "" ? [password] : [],
      timeoutMs,
    };
  }
  const parsed = parsedUrl(what, url);
  const secrets = [parsed.password, decodeURIComponent(parsed.password)];
  return {
    connect: async () => {
      const { Redis: Library } = await loadLibrary(what, "ioredis", () => import("ioredis"));
      return new Library(parsed.href, once);
    },
    secrets: secrets.filter((secret) => secret !== ""),
    timeoutMs,
  };
}

/** The URL is never shown, since it may contain a password. */
function parsedUrl(what: string, url: unknown): URL {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : undefined;
  const isRedis = parsed?.protocol === "redis:" || parsed?.protocol === "rediss:";
  if (parsed !== undefined && isRedis && parsed.hostname !== "") return parsed;
  throw new ConfigError(`url of ${what} is no address of Redis; use ${URL_SYNTAX}`);
}

/** By default the library reconnects for ever, queues without bound and sends commands again. */
function connectingOnce(timeoutMs: number) {
  return {
    lazyConnect: true,
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    reconnectOnError: null,
    connectTimeout: timeoutMs,
  } satisfies RedisOptions;
}
