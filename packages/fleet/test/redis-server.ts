/** Real servers on this machine, each on its own port and with its own folder, ended by process id. */
import { spawn } from "node:child_process";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { availableParallelism, loadavg, tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemTimer } from "@sluice/core/system";
import { Redis } from "ioredis";

/** Where `scripts/redis.mjs` puts a server that it has fetched. */
const FETCHED = fileURLToPath(new URL("../../../node_modules/.cache/redis/bin", import.meta.url));
const HOST = "127.0.0.1";
const START_TRIES = 5;
/** How long `until` waits: only a failing test takes this long. Below the test timeout of 60 s. */
const PATIENCE_MS = 45_000;
const SLOTS = 16_384;

/** Valkey; undefined if this machine has none. */
export const valkeyPath: string | undefined = programPath("valkey-server");

/** Redis, else Valkey; undefined if this machine has neither. */
export const redisPath: string | undefined = programPath("redis-server") ?? valkeyPath;

function programPath(name: string): string | undefined {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), FETCHED];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

/**
 * How much slower than an idle machine this one is now: 1 plus the load of each core. Tests multiply
 * the times by it that a call may take.
 */
export function slowness(): number {
  const [load = 0] = loadavg();
  return 1 + load / availableParallelism();
}

/** Added to the names of tests that are skipped. */
export const NEEDS_REDIS = redisPath === undefined ? " (skipped: no Redis server here)" : "";

export interface Address {
  readonly host: string;
  readonly port: number;
}

/** One server. It keeps nothing on disk, so that it comes back empty. */
export class RedisServer {
  readonly port: number;
  readonly #folder: string;
  readonly #settings: readonly string[];
  readonly #program: string | undefined;
  #child: ChildProcess;

  private constructor(port: number, folder: string, started: Started) {
    this.port = port;
    this.#folder = folder;
    this.#settings = started.settings;
    this.#program = started.program;
    this.#child = started.child;
  }

  /** Starts one on a free port; `settings` are lines of its configuration. Default: `redisPath`. */
  static async start(
    settings: readonly string[] = [],
    program: string | undefined = redisPath,
  ): Promise<RedisServer> {
    for (let tries = 1; ; tries++) {
      const port = await freePort();
      const folder = mkdtempSync(join(tmpdir(), "sluice-redis-"));
      try {
        const child = await startProcess({ port, folder, settings, program });
        return new RedisServer(port, folder, { child, settings, program });
      } catch (error) {
        rmSync(folder, { recursive: true, force: true });
        // Another process may have taken the port meanwhile.
        if (tries === START_TRIES) throw error;
      }
    }
  }

  get url(): string {
    return `redis://${HOST}:${this.port}`;
  }

  get address(): Address {
    return { host: HOST, port: this.port };
  }

  /** Runs one command on a connection of its own. */
  async command(name: string, ...args: readonly (string | number)[]): Promise<unknown> {
    const client = new Redis({
      ...this.address,
      lazyConnect: true,
      retryStrategy: () => undefined,
    });
    client.on("error", () => undefined);
    try {
      await client.connect();
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  /** Stops answering without closing anything, until `resume`. */
  pause(): void {
    this.#child.kill("SIGSTOP");
  }

  resume(): void {
    this.#child.kill("SIGCONT");
  }

  async kill(): Promise<void> {
    await end(this.#child);
  }

  /** Starts it again, empty, after `kill`. */
  async restart(): Promise<void> {
    const { port } = this;
    this.#child = await startProcess({
      port,
      folder: this.#folder,
      settings: this.#settings,
      program: this.#program,
    });
  }

  /** Ends it and removes its folder. */
  async stop(): Promise<void> {
    await end(this.#child);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** A master, its replica and three sentinels. */
export interface SentinelTrio {
  readonly masterName: string;
  readonly master: RedisServer;
  readonly replica: RedisServer;
  readonly sentinels: readonly RedisServer[];
  readonly endpoints: readonly Address[];
  stop(): Promise<void>;
}

export async function startSentinel(): Promise<SentinelTrio> {
  const masterName = "pool-master";
  const master = await RedisServer.start();
  const replica = await RedisServer.start([`replicaof ${HOST} ${master.port}`]);
  await until(async () => String(await replica.command("INFO", "replication")).includes(":up"));
  const settings = [
    `sentinel monitor ${masterName} ${HOST} ${master.port} 2`,
    `sentinel down-after-milliseconds ${masterName} 500`,
    `sentinel failover-timeout ${masterName} 1000`,
  ];
  const sentinels = await Promise.all(
    [1, 2, 3].map(() => RedisServer.start(["sentinel", ...settings])),
  );
  const [first] = sentinels;
  await until(async () => {
    const [, found] = pairs(await first?.command("SENTINEL", "MASTER", masterName));
    return found.get("num-other-sentinels") === "2" && found.get("num-slaves") === "1";
  });
  return {
    masterName,
    master,
    replica,
    sentinels,
    endpoints: sentinels.map(({ address }) => address),
    stop: async () => {
      await Promise.all([...sentinels, replica, master].map((server) => server.stop()));
    },
  };
}

/** Three masters, each with a third of the slots. */
export interface ClusterOfThree {
  readonly servers: readonly RedisServer[];
  readonly nodes: readonly Address[];
  stop(): Promise<void>;
}

export async function startCluster(settings: readonly string[] = []): Promise<ClusterOfThree> {
  const servers = await Promise.all(
    [1, 2, 3].map(async () =>
      RedisServer.start([
        "cluster-enabled yes",
        `cluster-port ${await freePort()}`,
        "cluster-node-timeout 1000",
        ...settings,
      ]),
    ),
  );
  const [first] = servers;
  for (const [index, server] of servers.entries()) {
    const from = Math.floor((SLOTS * index) / servers.length);
    const to = Math.floor((SLOTS * (index + 1)) / servers.length) - 1;
    await server.command("CLUSTER", "SET-CONFIG-EPOCH", index + 1);
    await server.command("CLUSTER", "ADDSLOTSRANGE", from, to);
    const [bus = 0] = await busPortOf(server);
    if (server !== first) await first?.command("CLUSTER", "MEET", HOST, server.port, bus);
  }
  for (const server of servers)
    await until(async () => String(await server.command("CLUSTER", "INFO")).includes("state:ok"));
  return {
    servers,
    nodes: servers.map(({ address }) => address),
    stop: async () => {
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

/** Waits, at most 45 seconds, until it is so. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  const endAtMs = systemTimer.now() + PATIENCE_MS;
  while (!(await isSo().catch(() => false))) {
    if (systemTimer.now() > endAtMs)
      throw new Error(`it did not come about within ${PATIENCE_MS} ms`);
    await systemTimer.sleep(20);
  }
}

interface Started {
  readonly child: ChildProcess;
  readonly settings: readonly string[];
  readonly program: string | undefined;
}

async function startProcess({
  port,
  folder,
  settings,
  program,
}: {
  readonly port: number;
  readonly folder: string;
  readonly settings: readonly string[];
  readonly program: string | undefined;
}): Promise<ChildProcess> {
  if (program === undefined) throw new Error("there is no Redis server here");
  const [first = "", ...rest] = settings;
  const isSentinel = first === "sentinel";
  const lines = [
    `port ${port}`,
    `bind ${HOST}`,
    `dir ${folder}`,
    ...(isSentinel
      ? rest
      : ['save ""', "appendonly no", "repl-diskless-sync-delay 0", ...settings]),
  ];
  const file = join(folder, "redis.conf");
  writeFileSync(file, lines.join("\n"));
  const child = spawn(program, isSentinel ? [file, "--sentinel"] : [file], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  guard(child);
  let said = "";
  child.stdout.on("data", (data: Buffer) => (said += data.toString()));
  child.stderr.on("data", (data: Buffer) => (said += data.toString()));
  try {
    await until(() => {
      if (child.exitCode !== null) throw new Error(said);
      return Promise.resolve(/Ready to accept connections|Sentinel ID is/.test(said));
    });
  } catch {
    await end(child);
    throw new Error(`the server did not start: ${said.slice(-500)}`);
  }
  return child;
}

/** Ends the server when this process is killed: the guard then reads the end of its input. */
function guard(child: ChildProcess): void {
  const script = 'read _; kill -9 "$0"';
  const watcher = spawn("sh", ["-c", script, String(child.pid)], {
    stdio: ["pipe", "ignore", "ignore"],
  });
  child.once("exit", () => {
    watcher.kill("SIGKILL");
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  // Ends a stopped process too.
  child.kill("SIGKILL");
  await ended;
}

async function busPortOf(server: RedisServer): Promise<number[]> {
  const [, found] = pairs(await server.command("CONFIG", "GET", "cluster-port"));
  return [Number(found.get("cluster-port"))];
}

function pairs(reply: unknown): [readonly string[], ReadonlyMap<string, string>] {
  const words = Array.isArray(reply) ? reply.map(String) : [];
  const found = new Map<string, string>();
  for (let index = 0; index + 1 < words.length; index += 2)
    found.set(words[index] ?? "", words[index + 1] ?? "");
  return [words, found];
}

async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, HOST);
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
