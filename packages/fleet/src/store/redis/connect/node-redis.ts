/** Connections by node-redis, the package `redis`, from version 4 on. */
import type { RedisConnection } from "./connection.ts";
import { tlsOptionsOf } from "../options/target.ts";
import type { RedisAddress, RedisLogin, RedisTarget } from "../options/target.ts";

/** The functions used of the library; they are the same in versions 4, 5 and 6. */
export interface NodeRedisLibrary {
  createClient(options: object): NodeRedisClient;
  createCluster(options: object): NodeRedisClient;
  /** Since version 6, where it is 3. */
  readonly DEFAULT_RESP?: number;
}

/** A client, cluster client or sentinel client of the library. */
export interface NodeRedisClient {
  connect(): Promise<unknown>;
  evalSha(sha: string, options: ScriptInput): Promise<unknown>;
  eval(script: string, options: ScriptInput): Promise<unknown>;
  duplicate(overrides: object): NodeRedisClient;
  on(event: "error", listener: (error: unknown) => void): unknown;
  /** Cluster clients of version 4 have none. */
  readonly isReady?: boolean;
  /** Since version 5. */
  destroy?(): void;
  /** Until version 4. */
  disconnect?(): Promise<void>;
  /** Of a client of one server. */
  readonly options?: { readonly socket?: object; readonly [name: string]: unknown };
  /** Of a cluster client since version 5. */
  readonly _options?: { readonly defaults?: object };
}

interface ScriptInput {
  keys: string[];
  arguments: string[];
}

/** A client of one server, which alone has `sendCommand` without a key. */
interface PlainClient extends NodeRedisClient {
  sendCommand(words: string[]): Promise<unknown>;
}

/** A cluster client of version 4, whose `eval` and `evalSha` ask a random node. */
interface ClusterOf4 extends NodeRedisClient {
  sendCommand(...command: ClusterCommand): Promise<unknown>;
}

type ClusterCommand = [firstKey: string | undefined, isReadonly: boolean, words: string[]];

/** Pause before a lost node of a cluster is connected again. */
const NODE_RETRY_MS = 1000;
/** Redirections (MOVED, ASK) of one command: the redirecting node has not executed it. */
const REDIRECTIONS_MAX = 4;

export function openNodeRedis(
  library: NodeRedisLibrary,
  target: RedisTarget,
  timeoutMs: number,
): RedisConnection {
  const single = (address: RedisAddress, login: RedisLogin, database: number): NodeRedisClient =>
    library.createClient({
      ...options(login, { ...address, ...connectingOnce(timeoutMs) }),
      ...plainProtocol(library),
      database,
    });
  switch (target.kind) {
    case "single":
      return connectionOf(() => single(target.address, target, target.database));
    case "sentinel":
      // The library has sentinel clients only since version 5, and these send commands again.
      return connectionOf(async () => {
        const { endpoints, masterName, sentinelLogin } = target;
        const sentinels = endpoints.map((each) => single(each, sentinelLogin, 0) as PlainClient);
        return single(await masterOf(masterName, sentinels), target, target.database);
      });
    case "cluster":
      return connectionOf(() =>
        library.createCluster({
          // Copies: the library adds options to them.
          rootNodes: target.nodes.map((address) => ({ socket: { ...address } })),
          defaults: options(target, {
            connectTimeout: timeoutMs,
            reconnectStrategy: NODE_RETRY_MS,
          }),
          maxCommandRedirections: REDIRECTIONS_MAX,
          minimizeConnections: true,
          ...plainProtocol(library),
        }),
      );
  }
}

/** Another connection with the settings of a client that the caller has made. */
export function duplicateNodeRedis(client: NodeRedisClient, timeoutMs: number): RedisConnection {
  const { options: single, _options: cluster } = client;
  // Replies are to be plain text, whatever the client's own commands get.
  const plain = { commandOptions: {}, legacyMode: false };
  const overrides = {
    ...plain,
    ...(single === undefined
      ? {}
      : { disableOfflineQueue: true, socket: { ...single.socket, ...connectingOnce(timeoutMs) } }),
    ...(cluster === undefined
      ? {}
      : { defaults: { ...cluster.defaults, disableOfflineQueue: true } }),
    // Of a sentinel client: a command that met a failover may have been executed.
    ...(isSentinel(client) ? { maxCommandRediscovers: 0 } : {}),
  };
  return connectionOf(() => client.duplicate(overrides));
}

/** By default the library reconnects for ever and queues without bound. */
function connectingOnce(timeoutMs: number): object {
  return { connectTimeout: timeoutMs, reconnectStrategy: false };
}

/** Without HELLO, for which the user may have no right: version 5 sends it if any protocol is set. */
function plainProtocol({ DEFAULT_RESP }: NodeRedisLibrary): object {
  return DEFAULT_RESP === undefined ? {} : { RESP: 2 };
}

function options({ username, password, tls }: RedisLogin, socket: object): object {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    socket: { ...socket, ...(tls === undefined ? {} : { tls: true, ...tlsOptionsOf(tls) }) },
    disableOfflineQueue: true,
    // The user of the server needs no right to CLIENT.
    disableClientInfo: true,
  };
}

function connectionOf(make: () => NodeRedisClient | Promise<NodeRedisClient>): RedisConnection {
  let client: NodeRedisClient | undefined;
  let isConnected = false;
  let isClosed = false;
  let lastError: unknown;
  const ready = (): NodeRedisClient => {
    if (client === undefined) throw new Error("not connected");
    return client;
  };
  return {
    connect: async () => {
      client = await make();
      // Without a listener the event would end the process.
      client.on("error", (error) => {
        lastError = error;
      });
      try {
        if (!isClosed) await client.connect();
        isConnected = true;
      } catch (error) {
        // A cluster client only says that no node was reachable; the event says why.
        throw lastError ?? error;
      } finally {
        if (isClosed) end(client);
      }
    },
    get isReady() {
      return isConnected && !isClosed && client?.isReady !== false;
    },
    evalsha: (sha, keys, args) => {
      const made = ready();
      if (isClusterOf4(made))
        return made.sendCommand(...clusterCommand("EVALSHA", sha, keys, args));
      return made.evalSha(sha, { keys: [...keys], arguments: [...args] });
    },
    eval: (script, keys, args) => {
      const made = ready();
      if (isClusterOf4(made))
        return made.sendCommand(...clusterCommand("EVAL", script, keys, args));
      return made.eval(script, { keys: [...keys], arguments: [...args] });
    },
    close: () => {
      isClosed = true;
      if (client !== undefined) end(client);
    },
  };
}

/** The address that the first sentinel to answer gives. */
async function masterOf(
  masterName: string,
  sentinels: readonly PlainClient[],
): Promise<RedisAddress> {
  const ask = async (sentinel: PlainClient): Promise<RedisAddress> => {
    sentinel.on("error", () => undefined);
    await sentinel.connect();
    const reply = await sentinel.sendCommand(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName]);
    if (!Array.isArray(reply)) throw new Error(`the sentinel knows no master "${masterName}"`);
    const [host, port] = reply.map(String);
    return { host: host ?? "", port: Number(port) };
  };
  try {
    return await Promise.any(sentinels.map(ask));
  } catch (error) {
    (error as AggregateError).message = "no sentinel knows the master";
    throw error;
  } finally {
    for (const sentinel of sentinels) end(sentinel);
  }
}

/** The library throws, or rejects, for a client that is not open. */
function end(client: NodeRedisClient): void {
  try {
    if (client.destroy !== undefined) client.destroy();
    else client.disconnect?.().catch(() => undefined);
  } catch {
    // It was closed already.
  }
}

function isClusterOf4(client: NodeRedisClient): client is ClusterOf4 {
  return "slots" in client && client.destroy === undefined;
}

function clusterCommand(
  name: "EVAL" | "EVALSHA",
  script: string,
  keys: readonly string[],
  args: readonly string[],
): ClusterCommand {
  return [keys[0], false, [name, script, String(keys.length), ...keys, ...args]];
}

function isSentinel(client: NodeRedisClient): boolean {
  return "getSentinelNode" in client;
}
