import { ConfigError } from "@sluice/core";
import type { Cluster, Redis, RedisOptions } from "ioredis";
import type { RedisClient, RedisTarget, RedisTls } from "./options.ts";
import { StoreError } from "../store-error.ts";

/** What is used of the library. */
interface Ioredis {
  readonly Redis: typeof Redis;
  readonly Cluster: typeof Cluster;
}

/** Its options, without those that change the shape of replies. */
type PlainOptions = Omit<RedisOptions, "replyMapping" | "himportFieldsets">;

/** A client, and what must be known of its connection. */
export interface RedisLink {
  /** The client, once it is connected; gives up when the signal is aborted. */
  ready(signal: AbortSignal): Promise<RedisClient>;
  /** What may never be seen in a message. */
  readonly secrets: readonly string[];
  /** Why there is no connection, as far as is known. */
  readonly lastError: unknown;
  close(): Promise<void>;
}

/** After a lost connection the next try comes so much later than the one before, up to a second. */
const RETRY_STEP_MS = 50;
const RETRY_MAX_MS = 1000;
/** A connection on which nothing came for so many timeouts is given up, with what it still owes. */
const TIMEOUTS_UNTIL_DEAD = 4;
/** Rarely, since the library writes a line for every try at a sentinel that is down. */
const SENTINEL_RETRY_MS = 10_000;
/** Slots may move without a command of ours noticing. */
const SLOTS_REFRESH_MS = 5000;
/** A command that meets a moving slot is sent on so often: it was not executed where it was. */
const REDIRECTIONS = 4;

/** The caller's own client: it connects, and ends, by itself. */
export function linkClient(client: RedisClient): RedisLink {
  return {
    ready: () => Promise.resolve(client),
    secrets: [],
    lastError: undefined,
    close: () => Promise.resolve(),
  };
}

/** A connection of the store's own, made at the first call. */
export class OwnRedis implements RedisLink {
  readonly secrets: readonly string[];
  readonly #target: RedisTarget;
  readonly #timeoutMs: number;
  readonly #opening: Promise<Redis | Cluster>;
  #isClosed = false;
  #lastError: unknown;

  constructor(target: RedisTarget, timeoutMs: number) {
    this.#target = target;
    this.#timeoutMs = timeoutMs;
    const passwords = [target.password ?? "", target.sentinel?.password ?? ""];
    this.secrets = passwords.filter((password) => password !== "");
    // The library is read ahead, since that takes as long as a first call may. It is told there if it is missing.
    this.#opening = this.#open();
    this.#opening.catch(() => undefined);
  }

  get lastError(): unknown {
    return this.#lastError;
  }

  async ready(signal: AbortSignal): Promise<RedisClient> {
    if (this.#isClosed) throw new StoreError("the store is closed");
    const client = await this.#opening;
    await connected(client, signal);
    return client;
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const client = await this.#opening.catch(() => undefined);
    client?.disconnect();
  }

  async #open(): Promise<Redis | Cluster> {
    const ioredis = await importIoredis();
    const client =
      this.#target.kind === "cluster" ? this.#cluster(ioredis) : new ioredis.Redis(this.#single());
    // Everybody who waits for the connection listens.
    client.setMaxListeners(0);
    client.on("error", (error: unknown) => {
      this.#lastError = error;
    });
    client.on("ready", () => {
      this.#lastError = undefined;
    });
    return client;
  }

  #single(): PlainOptions {
    const { addresses, database, sentinel, tls } = this.#target;
    const [address] = addresses;
    const common = { ...this.#common(), db: database, enableOfflineQueue: false };
    const single = { ...common, retryStrategy };
    if (sentinel === undefined) return { ...single, ...address };
    return {
      ...single,
      name: sentinel.masterName,
      sentinels: addresses.map(({ host, port }) => ({ host, port })),
      sentinelUsername: sentinel.username,
      sentinelPassword: sentinel.password,
      sentinelTLS: tlsOptions(sentinel.tls),
      enableTLSForSentinelMode: tls !== undefined,
      sentinelCommandTimeout: this.#timeoutMs,
      sentinelRetryStrategy: retryStrategy,
      // A master that was replaced goes on taking writes until it is told, seconds later.
      failoverDetector: true,
      sentinelReconnectStrategy: () => SENTINEL_RETRY_MS,
    };
  }

  #cluster(ioredis: Ioredis): Cluster {
    const nodes = this.#target.addresses.map(({ host, port }) => ({ host, port }));
    return new ioredis.Cluster(nodes, {
      redisOptions: this.#common(),
      lazyConnect: true,
      enableOfflineQueue: false,
      enableReadyCheck: false,
      clusterRetryStrategy: retryStrategy,
      maxRedirections: REDIRECTIONS,
      // What was under way when a connection broke may have been executed: it is not sent again.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshTimeout: this.#timeoutMs,
      slotsRefreshInterval: SLOTS_REFRESH_MS,
    });
  }

  /** The library's own settings would wait for ever, queue without end, and execute twice. */
  #common(): Omit<PlainOptions, "host" | "port" | "retryStrategy" | "enableOfflineQueue"> {
    const { username, password, tls } = this.#target;
    return {
      username,
      password,
      tls: tlsOptions(tls),
      connectTimeout: this.#timeoutMs,
      commandTimeout: this.#timeoutMs,
      disconnectTimeout: this.#timeoutMs,
      socketTimeout: TIMEOUTS_UNTIL_DEAD * this.#timeoutMs,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      lazyConnect: true,
      // The next four keep the user's rights small: no HELLO, INFO, CLIENT, and no role to ask for.
      protocol: 2,
      enableReadyCheck: false,
      disableClientInfo: true,
      reconnectOnError: isDemoted,
    };
  }
}

function retryStrategy(times: number): number {
  return Math.min(RETRY_STEP_MS * times, RETRY_MAX_MS);
}

/** A master that has become a replica: the next connection asks for the new one. */
function isDemoted(error: Error): boolean {
  return error.message.includes("READONLY");
}

function tlsOptions(tls: RedisTls | undefined): RedisOptions["tls"] {
  if (tls === undefined) return undefined;
  const { serverName, insecureSkipVerify, ...pem } = tls;
  return {
    ...pem,
    ...(serverName === undefined ? {} : { servername: serverName }),
    ...(insecureSkipVerify === true ? { rejectUnauthorized: false } : {}),
  };
}

async function importIoredis(): Promise<Ioredis> {
  try {
    return await import("ioredis");
  } catch (error) {
    throw new ConfigError("redisStore needs the package ioredis: npm i ioredis", undefined, {
      cause: error,
    });
  }
}

/** Waits for the connection that is being made, or for its failing. It is tried again in any case. */
function connected(client: Redis | Cluster, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject: (reason: unknown) => void) => {
    if (client.status === "ready") {
      resolve();
      return;
    }
    const end = (): void => {
      client.off("ready", onReady);
      client.off("close", onClose);
      signal.removeEventListener("abort", onAbort);
    };
    const onReady = (): void => {
      end();
      resolve();
    };
    const onClose = (): void => {
      end();
      reject(new StoreError("no connection"));
    };
    const onAbort = (): void => {
      end();
      reject(signal.reason);
    };
    client.once("ready", onReady);
    client.once("close", onClose);
    signal.addEventListener("abort", onAbort);
    // Its failing is told by the event.
    if (client.status === "wait") client.connect().catch(() => undefined);
  });
}
