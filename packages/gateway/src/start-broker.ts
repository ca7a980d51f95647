import { hostname } from "node:os";
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
import { createTokenAuthenticator } from "./auth/token-authenticator.ts";
import type { TokenAuthenticator, TokenAuthenticatorOptions } from "./auth/token-authenticator.ts";
import type { AdministeredBroker } from "./admin/administered-broker.ts";
import { CLUSTER } from "./admin/cluster.ts";
import { Broker } from "./broker/broker.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import { PolicyBook } from "./policy/policy-book.ts";
import { resolveSettings } from "./topic/settings.ts";
import type { BrokerSettings } from "./topic/settings.ts";
import { SchemaRegistry } from "./schema/schema-registry.ts";
import { connectionLimits } from "./server/connection-limits.ts";
import type { ConnectionLimits } from "./server/connection-limits.ts";
import { FlushTurns } from "./server/flush-turns.ts";
import { Door } from "./server/door.ts";
import { parseListenAddress, serviceUrl } from "./server/listen-address.ts";
import type { ListenAddress } from "./server/listen-address.ts";
import type { TlsFiles } from "./server/listener.ts";
import { unharmedBy } from "./server/observer.ts";
import { Server } from "./server/server.ts";
import type { ServerStats } from "./server/server.ts";
import type { SessionFacts } from "./session/handshake.ts";
import { sessionLimits } from "./session/limits.ts";
import type { SessionLimits } from "./session/limits.ts";
import type { BrokerStore } from "./storage/store/broker-store.ts";
import { FileBrokerStore } from "./storage/store/file-broker-store.ts";
import { MemoryBrokerStore } from "./storage/store/memory-broker-store.ts";
import type { TopicStats } from "./topic/topic-stats.ts";

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
  /** Without it anybody may connect. */
  readonly token?: TokenOptions;
  /**
   * What the roles of tokens may do; a role that is not named may do nothing. Without it every client
   * that may connect may do everything. Needs `token`.
   */
  readonly roles?: Readonly<
    Record<
      string,
      {
        readonly produce?: readonly string[];
        readonly consume?: readonly string[];
        readonly admin?: boolean;
      }
    >
  >;
  /** Needed to listen on an address that other machines reach without `token` and TLS. */
  readonly allowAnonymous?: boolean;
  /** Hears what an operator should know. What it throws is dropped. */
  readonly observe?: BrokerObserver;
  readonly tls?: TlsFiles;
  /** Of the topics. */
  readonly broker?: BrokerSettings;
  /** Of each connection. */
  readonly session?: Partial<SessionLimits>;
  readonly connections?: Partial<ConnectionLimits>;
  /** Bytes that are being stored at once; all clients wait while there are more. 64 MiB. */
  readonly publishBytesMax?: number;
  /** The broker ended a connection, for this reason. */
  readonly onClosed?: (reason: string) => void;
  /** Something failed that should not have; the connection that it failed on is closed. */
  readonly onError?: (error: unknown) => void;
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

export interface BrokerStats extends ServerStats {
  readonly topics: readonly TopicStats[];
}

export interface RunningBroker {
  /** What clients are given, without TLS if there is a choice. */
  readonly url: string;
  readonly port: number;
  /** All of them. */
  readonly urls: readonly string[];
  /** For `startAdmin`. */
  readonly administered: AdministeredBroker;
  /** Why it serves no clients; undefined while it does. */
  notReady(): string | undefined;
  stats(): BrokerStats;
  /** Stores what has come, tells everybody, and ends. */
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
  "publishBytesMax",
  "onClosed",
  "onError",
  "roles",
  "allowAnonymous",
  "observe",
]);

const LISTEN = "pulsar://127.0.0.1:6650";
const PUBLISH_BYTES_MAX = 64 * 1024 * 1024;

/** Who is one too many is told so, if there are not too many of those. */
const CONNECTIONS_TO_REFUSE = 100;

/** Hosts that mean all of this machine's, and that no client can connect to. */
const ANY_HOST: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

/** Starts a broker that real Pulsar clients can use. It runs until it is closed. */
export async function startBroker(
  options: StartBrokerOptions,
  world: BrokerWorld = systemWorld(),
): Promise<RunningBroker> {
  requireKnownKeys("broker", options, KNOWN);
  const addresses = addressesOf(options);
  const limits = sessionLimits(options.session);
  const connections = connectionLimits(options.connections);
  const { publishBytesMax = PUBLISH_BYTES_MAX, observe: tell = () => {} } = options;
  const observe = unharmedBy(tell);
  const onClosed =
    options.onClosed ??
    ((reason: string) => observe({ kind: "client-closed", address: "", reason }));
  const onError = options.onError ?? ((error: unknown) => observe({ kind: "error", error }));
  requireWhole("publishBytesMax", publishBytesMax, 1);
  const { partitions = {} } = options;
  for (const [topic, count] of Object.entries(partitions))
    requireWhole(`partitions of ${topic}`, count, 1);
  const authenticator = authenticatorOf(options.token, world.wallClock);

  const { broker, policies } = await openBroker({ ...options, observe }, world);
  const door = new Door({
    tls: options.tls,
    connectionsMax: connections.connectionsMax + CONNECTIONS_TO_REFUSE,
    tlsHandshakeMs: limits.greetingMs,
    onAcceptError: unharmedBy(onError),
  });
  try {
    await makePartitions(broker, partitions);
    for (const address of addresses) await door.open(address);
  } catch (error) {
    await Promise.all([door.close(), broker.close()]);
    throw error;
  }
  const urls = door.addresses.map((address) =>
    serviceUrl({ ...address, host: options.advertisedHost ?? reachable(address.host) }),
  );
  const facts: SessionFacts = {
    limits,
    needsToken: authenticator !== undefined,
    serviceUrl: urls.find((url) => url.startsWith("pulsar://")),
    serviceUrlTls: urls.find((url) => url.startsWith("pulsar+ssl://")),
  };
  const shared = {
    ...world,
    broker,
    schemas: new SchemaRegistry(),
    turns: new FlushTurns(world.nextTurn),
    authenticator,
    onClosed: unharmedBy(onClosed),
    onError: unharmedBy(onError),
  };
  const server = new Server(world.timer, shared, { facts, connections, publishBytesMax });
  door.lead((socket) => server.accept(socket));
  const administered: AdministeredBroker = {
    broker,
    policies,
    roles: authenticator && {
      authenticate: (token) => authenticator.authenticate(token),
      mayAdminister: () => true,
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

function addressesOf({ listen = LISTEN }: StartBrokerOptions): readonly ListenAddress[] {
  const addresses = (typeof listen === "string" ? [listen] : listen).map(parseListenAddress);
  if (addresses.length === 0) throw new ConfigError("listen is empty; name an address at least");
  return addresses;
}

async function openBroker(
  { data, broker: settings, observe }: StartBrokerOptions,
  world: BrokerWorld,
): Promise<{ readonly broker: Broker; readonly policies: PolicyBook }> {
  const store = await openStore(data);
  try {
    const policies = await PolicyBook.open(store.documents, CLUSTER);
    return { broker: new Broker({ store, policies, observe, ...world }, settings), policies };
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

async function openStore(data: StartBrokerOptions["data"]): Promise<BrokerStore> {
  return data === "memory" ? new MemoryBrokerStore() : FileBrokerStore.open(data.folder);
}

async function makePartitions(
  broker: Broker,
  partitions: Readonly<Record<string, number>>,
): Promise<void> {
  for (const [topic, count] of Object.entries(partitions)) {
    if (broker.partitionsOf(topic) !== count) await broker.createPartitionedTopic(topic, count);
  }
}

function reachable(host: string): string {
  return ANY_HOST.has(host) ? hostname() : host;
}
