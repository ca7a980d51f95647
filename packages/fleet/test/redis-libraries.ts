/** Every client library and version that the store supports. */

/** A client that the caller of `redisStore` has made. */
interface CallersClient {
  readonly client: object;
  ping(): Promise<unknown>;
  close(): void;
}

export interface TestedLibrary {
  readonly name: string;
  readonly load: () => Promise<object>;
  /** A connected client with the library's default options. */
  connect(url: string): Promise<CallersClient>;
  /** A connected cluster client with the library's default options. */
  connectCluster(nodes: readonly { host: string; port: number }[]): Promise<CallersClient>;
}

interface Ioredis {
  Redis: new (url: string) => IoredisClient;
  Cluster: new (nodes: object[]) => IoredisClient;
}

interface IoredisClient {
  on(event: string, listener: () => void): void;
  once(event: string, listener: () => void): void;
  ping(): Promise<unknown>;
  disconnect(): void;
}

interface NodeRedis {
  createClient(options: object): NodeRedisClient;
  createCluster(options: object): NodeRedisClient;
}

interface NodeRedisClient {
  on(event: string, listener: () => void): void;
  connect(): Promise<unknown>;
  ping?(): Promise<unknown>;
  get(key: string): Promise<unknown>;
  destroy?(): void;
  disconnect?(): Promise<void>;
}

function ioredisLike(name: string, load: () => Promise<object>): TestedLibrary {
  return {
    name,
    load,
    connect: async (url) => readyIoredis(new ((await load()) as Ioredis).Redis(url)),
    connectCluster: async (nodes) => {
      const { Cluster } = (await load()) as Ioredis;
      return readyIoredis(new Cluster([...nodes]));
    },
  };
}

async function readyIoredis(client: IoredisClient): Promise<CallersClient> {
  client.on("error", () => undefined);
  await new Promise<void>((resolve) => client.once("ready", resolve));
  return { client, ping: () => client.ping(), close: () => client.disconnect() };
}

function nodeRedis(name: string, load: () => Promise<object>): TestedLibrary {
  return {
    name,
    load,
    connect: async (url) => readyNodeRedis(((await load()) as NodeRedis).createClient({ url })),
    connectCluster: async (nodes) => {
      const rootNodes = nodes.map((address) => ({ socket: { ...address } }));
      return readyNodeRedis(((await load()) as NodeRedis).createCluster({ rootNodes }));
    },
  };
}

async function readyNodeRedis(client: NodeRedisClient): Promise<CallersClient> {
  client.on("error", () => undefined);
  await client.connect();
  return {
    client,
    ping: () => client.ping?.() ?? client.get("any"),
    close: () => {
      if (client.destroy === undefined) client.disconnect?.().catch(() => undefined);
      else client.destroy();
    },
  };
}

export const LIBRARIES: readonly TestedLibrary[] = [
  ioredisLike("ioredis 6", () => import("ioredis")),
  ioredisLike("ioredis 5", () => import("ioredis5")),
  ioredisLike("iovalkey", () => import("iovalkey")),
  nodeRedis("redis 6", () => import("redis")),
  nodeRedis("redis 5", () => import("redis5")),
  nodeRedis("redis 4", () => import("redis4")),
];
