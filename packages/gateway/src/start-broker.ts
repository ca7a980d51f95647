import { ConfigError } from "@sluice/core";
import type { Clock, Random, Timer } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import {
  createCachedClock,
  nextTurn,
  systemRandom,
  systemTimer,
  systemWallClock,
} from "@sluice/core/system";
import { Permissions } from "./auth/permissions.ts";
import type { RoleOptions } from "./auth/permissions.ts";
import { createTokenAuthenticator } from "./auth/token-authenticator.ts";
import type { TokenAuthenticator, TokenAuthenticatorOptions } from "./auth/token-authenticator.ts";
import type {
  AdministeredBroker,
  AdministrableBroker,
  BrokerStats,
} from "./admin/administered-broker.ts";
import { CLUSTER } from "./admin/cluster.ts";
import { Broker } from "./broker/broker.ts";
import { PolicyBook } from "./policy/policy-book.ts";
import { resolveSettings } from "./topic/settings.ts";
import type { BrokerSettings } from "./topic/settings.ts";
import type { ByteBudget } from "./memory/byte-budget.ts";
import { CountedByteBudget } from "./memory/counted-byte-budget.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import { guarded } from "./observe/guarded.ts";
import { ConnectionCount, connectionLimits } from "./server/connection-limits.ts";
import type { ConnectionLimits } from "./server/connection-limits.ts";
import { Door } from "./server/door.ts";
import { EmbeddedBackend } from "./server/embedded-backend.ts";
import { isLoopback, parseListenAddress, serviceUrl } from "./server/listen-address.ts";
import { reachableHost } from "./server/reachable-host.ts";
import type { ListenAddress } from "./server/listen-address.ts";
import type { TlsFiles } from "./server/listener.ts";
import { Server } from "./server/server.ts";
import type { SessionFacts } from "./session/session-context.ts";
import { sessionLimits } from "./session/limits.ts";
import type { SessionLimits } from "./session/limits.ts";
import type { BrokerStore } from "./storage/store/broker-store.ts";
import { FileBrokerStore } from "./storage/store/file-broker-store.ts";
import { MemoryBrokerStore } from "./storage/store/memory-broker-store.ts";

/** How clients prove who they are: by tokens that are signed with this key. */
export type TokenOptions = Omit<TokenAuthenticatorOptions, "wallClock">;

export interface StartBrokerOptions {
  /** pulsar://127.0.0.1:6650 unless given. Two may be given, one of them pulsar+ssl://. */
  readonly listen?: string | readonly string[];
  /** The host that clients are sent to, if it is not the one to listen on. */
  readonly advertisedHost?: string;
  /** A folder that keeps everything over restarts, or nothing but memory. */
  readonly data: { readonly folder: string } | "memory";
  /** Topics that have partitions, and how many. */
  readonly partitions?: Readonly<Record<string, number>>;
  /** Without it every client may connect. */
  readonly token?: TokenOptions;
  /**
   * What the roles of tokens may do; a role that is not named may do nothing. Without it every client
   * that may connect may do everything. Needs `token`.
   */
  readonly roles?: Readonly<Record<string, RoleOptions>>;
  /** Needed to listen on an address that other machines reach without `token` and TLS. */
  readonly allowAnonymous?: boolean;
  readonly tls?: TlsFiles;
  /** Of the topics. */
  readonly broker?: BrokerSettings;
  /** Of each connection. */
  readonly session?: Partial<SessionLimits>;
  readonly connections?: Partial<ConnectionLimits>;
  /**
   * Bytes by which connections and subscriptions may make the process grow: partial frames, entries
   * being stored or sent, read-ahead. SENDs wait while three quarters of it are counted. 256 MiB unless
   * given.
   */
  readonly memoryBytesMax?: number;
  /** Hears what an operator should know. What it throws is dropped. */
  readonly observe?: BrokerObserver;
}

/** Time and chance, for tests. */
export interface BrokerWorld {
  readonly timer: Timer;
  /** May be behind by one turn of the event loop. */
  readonly clock: Clock;
  readonly wallClock: Clock;
  readonly random: Random;
  readonly nextTurn: () => Promise<void>;
}

export interface RunningBroker extends AdministrableBroker {
  /** What clients are given, without TLS if there is a choice. */
  readonly url: string;
  readonly port: number;
  stats(): BrokerStats;
  /** Stores what was read, tells all clients, and ends. */
  close(): Promise<void>;
}

const KNOWN: ReadonlySet<string> = new Set([
  "listen",
  "advertisedHost",
  "data",
  "partitions",
  "token",
  "tls",
  "broker",
  "session",
  "connections",
  "roles",
  "allowAnonymous",
  "memoryBytesMax",
  "observe",
]);

const LISTEN = "pulsar://127.0.0.1:6650";
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;

/**
 * The part of `memoryBytesMax` that is counted. The rest is for garbage and the gaps of the allocator:
 * 1.4 bytes of process memory were measured for a counted one, under 1,000 hostile clients.
 */
const COUNTED_PART = 3 / 4;

/** Connections beyond the maximum that are told so at a time; more are dropped without an answer. */
const CONNECTIONS_TO_REFUSE = 100;

/** Starts a broker that real Pulsar clients can use. It runs until it is closed. */
export async function startBroker(
  options: StartBrokerOptions,
  world: BrokerWorld = systemWorld(),
): Promise<RunningBroker> {
  requireKnownKeys("broker", options, KNOWN);
  const addresses = addressesOf(options);
  const limits = sessionLimits(options.session);
  const connections = connectionLimits(options.connections);
  const { memoryBytesMax = MEMORY_BYTES_MAX } = options;
  const { partitions = {} } = options;
  for (const [topic, count] of Object.entries(partitions))
    requireWhole(`partitions of ${topic}`, count, 1);
  const authenticator = authenticatorOf(options.token, world.wallClock);
  const permissions = permissionsOf(options);
  const observe = guarded(options.observe ?? (() => {}));
  const memory = new CountedByteBudget(Math.floor(memoryBytesMax * COUNTED_PART), (isExhausted) => {
    const { bytes, bytesMax } = memory;
    observe(
      isExhausted ? { kind: "memory-full", bytes, bytesMax } : { kind: "memory-free", bytes },
    );
  });

  const { broker, policies } = await openBroker(options, { ...world, memory, observe });
  const door = new Door({
    tls: options.tls,
    count: new ConnectionCount(connections),
    connectionsMax: connections.connectionsMax + CONNECTIONS_TO_REFUSE,
    tlsHandshakeMs: limits.greetingMs,
    onAcceptError: (error) => observe({ kind: "error", error }),
  });
  try {
    await makePartitions(broker, partitions);
    for (const address of addresses) await door.open(address);
  } catch (error) {
    await Promise.all([door.close(), broker.close()]);
    throw error;
  }
  const urls = door.addresses.map((address) =>
    serviceUrl({ ...address, host: options.advertisedHost ?? reachableHost(address.host) }),
  );
  const facts: SessionFacts = {
    limits,
    authMethods: authenticator === undefined ? [] : ["token"],
    permissions,
    serviceUrl: urls.find((url) => url.startsWith("pulsar://")),
    serviceUrlTls: urls.find((url) => url.startsWith("pulsar+ssl://")),
  };
  const { schemas } = broker;
  const embedded = { ...world, broker, schemas, memory, authenticator, observe };
  const server = new Server({
    ...world,
    memory,
    observe,
    limits,
    openBackend: (wire) => new EmbeddedBackend(wire, embedded, facts),
  });
  door.lead(server);
  const administered: AdministeredBroker = {
    broker,
    connections: () => server.stats(),
    schemas,
    policies,
    roles: authenticator && {
      authenticate: (token) => authenticator.authenticate(token),
      mayAdminister: (role) => permissions?.isAdmin(role) ?? true,
      visible: (role, topics) => permissions?.visible(role, "lookup", topics) ?? topics,
    },
    settings: resolveSettings(options.broker ?? {}),
  };
  return new Running({ door, server, broker }, urls, administered);
}

/** The parts of a broker that runs. */
class Running implements RunningBroker {
  readonly url: string;
  readonly port: number;
  readonly urls: readonly string[];
  readonly administered: AdministeredBroker;
  readonly #door: Door;
  readonly #server: Server;
  readonly #broker: Broker;
  #closing: Promise<void> | undefined;

  constructor(
    { door, server, broker }: { door: Door; server: Server; broker: Broker },
    urls: readonly string[],
    administered: AdministeredBroker,
  ) {
    this.#door = door;
    this.administered = administered;
    this.#server = server;
    this.#broker = broker;
    this.urls = urls;
    this.url = urls.find((url) => url.startsWith("pulsar://")) ?? urls[0] ?? "";
    this.port = door.addresses[urls.indexOf(this.url)]?.port ?? 0;
  }

  notReady(): string | undefined {
    return this.#closing === undefined ? undefined : "the broker is closing";
  }

  stats(): BrokerStats {
    return { ...this.#server.stats(), topics: this.#broker.stats() };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const closed = this.#door.close();
    await this.#server.stopReading();
    try {
      await this.#broker.close();
    } finally {
      await this.#server.close();
      await closed;
    }
  }
}

function addressesOf(options: StartBrokerOptions): readonly ListenAddress[] {
  const { listen = LISTEN, token, allowAnonymous = false } = options;
  const addresses = (typeof listen === "string" ? [listen] : listen).map(parseListenAddress);
  if (addresses.length === 0) throw new ConfigError("listen is empty; name an address at least");
  for (const { host, isTls } of addresses) {
    if (isLoopback(host) || token !== undefined || isTls || allowAnonymous) continue;
    throw new ConfigError(
      `listen has ${host}, which other machines reach, without token and TLS; add token, listen on pulsar+ssl:// or 127.0.0.1, or set allowAnonymous: true`,
    );
  }
  return addresses;
}

function permissionsOf({ roles, token }: StartBrokerOptions): Permissions | undefined {
  if (roles === undefined) return undefined;
  if (token === undefined)
    throw new ConfigError("roles need token, because a client's role is in its token; add token");
  return new Permissions(roles);
}

async function openBroker(
  { data, broker: settings }: StartBrokerOptions,
  world: BrokerWorld & { readonly memory: ByteBudget; readonly observe: BrokerObserver },
): Promise<{ readonly broker: Broker; readonly policies: PolicyBook }> {
  const store = await openStore(data, world.observe);
  try {
    const policies = await PolicyBook.open(store.documents, CLUSTER);
    return { broker: new Broker({ store, policies, ...world }, settings), policies };
  } catch (error) {
    await store.close();
    throw error;
  }
}

function systemWorld(): BrokerWorld {
  return {
    timer: systemTimer,
    clock: createCachedClock(),
    wallClock: systemWallClock,
    random: systemRandom,
    nextTurn,
  };
}

function authenticatorOf(
  token: TokenOptions | undefined,
  wallClock: Clock,
): TokenAuthenticator | undefined {
  if (token === undefined) return undefined;
  return createTokenAuthenticator({ ...token, wallClock } as TokenAuthenticatorOptions);
}

async function openStore(
  data: StartBrokerOptions["data"],
  observe: BrokerObserver,
): Promise<BrokerStore> {
  if (data === "memory") return new MemoryBrokerStore();
  return FileBrokerStore.open(data.folder, { observe });
}

async function makePartitions(
  broker: Broker,
  partitions: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [topic, count] of Object.entries(partitions)) {
    const former = broker.partitionsOf(topic);
    if (former === 0) await broker.createPartitionedTopic(topic, count);
    // Partitions cannot be taken away, and an administrator may have added some.
    else if (count > former) await broker.growPartitions(topic, count);
  }
}
