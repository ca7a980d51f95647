/** Connections by ioredis 5 or 6, and by iovalkey, which has the same interface. */
import { nextTurn } from "@sluice/core/system";
import type { Cluster, Redis, RedisOptions } from "ioredis";
import type { RedisConnection } from "./connection.ts";
import { TIMEOUTS_UNTIL_DEAD } from "./link.ts";
import { tlsOptionsOf } from "../options/target.ts";
import type { RedisTarget } from "../options/target.ts";

/** The constructors used of the library. */
export interface IoredisLibrary {
  readonly Redis: typeof Redis;
  readonly Cluster: typeof Cluster;
}

/** The library's options, without those that change the shape of replies. */
type PlainOptions = Omit<RedisOptions, "replyMapping" | "himportFieldsets">;

/**
 * Pause before a sentinel that is watched for failovers is connected again. Lowered, the library
 * writes more lines to the console: one for each attempt at a sentinel that is down.
 */
const SENTINEL_RETRY_MS = 10_000;
/** How often the slots of a cluster are asked for; a slot that has moved costs one redirection until then. */
const SLOTS_REFRESH_MS = 5000;
/** Redirections (MOVED, ASK) of one command: the redirecting node has not executed it. */
const REDIRECTIONS_MAX = 4;

export function openIoredis(
  library: IoredisLibrary,
  target: RedisTarget,
  timeoutMs: number,
): RedisConnection {
  const { username, password } = target;
  const login = {
    username,
    password,
    tls: tlsOptionsOf(target.tls),
    // The user of the server needs no right to HELLO, CLIENT or INFO.
    protocol: 2,
    disableClientInfo: true,
    enableReadyCheck: false,
  } satisfies PlainOptions;
  const once = connectingOnce(timeoutMs);
  switch (target.kind) {
    case "single":
      return connectionOf(
        new library.Redis({ ...login, ...once, ...target.address, db: target.database }),
      );
    case "sentinel":
      return connectionOf(
        new library.Redis({
          ...login,
          ...once,
          db: target.database,
          name: target.masterName,
          sentinels: target.endpoints.map(({ host, port }) => ({ host, port })),
          sentinelUsername: target.sentinelLogin.username,
          sentinelPassword: target.sentinelLogin.password,
          sentinelTLS: tlsOptionsOf(target.sentinelLogin.tls),
          enableTLSForSentinelMode: target.tls !== undefined,
          sentinelCommandTimeout: timeoutMs,
          // A replaced master takes writes until it is told of that, seconds later.
          failoverDetector: true,
          sentinelReconnectStrategy: () => SENTINEL_RETRY_MS,
        }),
      );
    case "cluster":
      return connectionOf(
        new library.Cluster(
          target.nodes.map(({ host, port }) => ({ host, port })),
          { ...clusterConnectingOnce(timeoutMs), redisOptions: { ...login, ...once } },
        ),
      );
  }
}

/** Another connection with the settings of a client that the caller has made. */
export function duplicateIoredis(client: Redis | Cluster, timeoutMs: number): RedisConnection {
  const once = connectingOnce(timeoutMs);
  if (!isCluster(client)) return connectionOf(client.duplicate(once));
  const redisOptions = { ...client.options.redisOptions, ...once };
  const options: object = { ...clusterConnectingOnce(timeoutMs), redisOptions };
  return connectionOf(client.duplicate([], options));
}

/** By default the library reconnects for ever, queues without bound and sends commands again. */
function connectingOnce(timeoutMs: number) {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
    sentinelRetryStrategy: () => null,
    reconnectOnError: null,
    connectTimeout: timeoutMs,
    socketTimeout: TIMEOUTS_UNTIL_DEAD * timeoutMs,
  } satisfies PlainOptions;
}

function clusterConnectingOnce(timeoutMs: number) {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: () => null,
    maxRedirections: REDIRECTIONS_MAX,
    // A command that was in flight when its connection broke may have been executed.
    retryDelayOnFailover: 0,
    retryDelayOnClusterDown: 0,
    slotsRefreshTimeout: timeoutMs,
    slotsRefreshInterval: SLOTS_REFRESH_MS,
  } as const;
}

function connectionOf(client: Redis | Cluster): RedisConnection {
  let lastError: Error | undefined;
  // Without a listener the library writes errors to the console.
  client.on("error", (error: Error) => {
    lastError = error;
  });
  const reply = async (call: Promise<unknown>): Promise<unknown> => {
    try {
      return await call;
    } catch (error) {
      // Version 5 does not wait for the answer to AUTH before it is ready. The refusal comes together
      // with the error of the first command, and its event after it. An event of a cluster may be old.
      await nextTurn();
      if (lastError === undefined || client.isCluster) throw error;
      throw new Error(lastError.message, { cause: error });
    }
  };
  return {
    connect: async () => {
      try {
        await client.connect();
      } catch (error) {
        // "Connection is closed." is all that the promise tells; the reason comes by the event.
        throw lastError ?? error;
      }
    },
    get isReady() {
      return client.status === "ready";
    },
    evalsha: (sha, keys, args) => reply(client.evalsha(sha, keys.length, ...keys, ...args)),
    eval: (script, keys, args) => reply(client.eval(script, keys.length, ...keys, ...args)),
    close: () => client.disconnect(),
  };
}

function isCluster(client: Redis | Cluster): client is Cluster {
  return client.isCluster;
}
