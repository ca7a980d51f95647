import { ConfigError } from "@sluice/core";
import type { Clock, Random, Timer } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import { systemRandom, systemTimer, systemWallClock } from "@sluice/core/system";
import { authenticationOf } from "./authentication.ts";
import type { Token } from "./authentication.ts";
import type { ClusterMeans } from "../lookup/cluster.ts";
import type { ConnectionOptions } from "../connection/connection.ts";
import type { EventListener } from "./event.ts";
import { createSocketDial } from "../connection/socket-transport.ts";
import type { TlsOptions } from "../connection/socket-transport.ts";
import type { Dial } from "../connection/transport.ts";

export interface ClientOptions {
  /** A function is asked for each connection, and again when a broker wants a fresh one. */
  readonly token?: Token | undefined;
  /** For URLs that begin with pulsar+ssl:// */
  readonly tls?: TlsOptions | undefined;
  /** For the network and the handshake. */
  readonly connectTimeoutMs?: number | undefined;
  /** For everything that a broker is asked, and for the first attempts to attach. */
  readonly operationTimeoutMs?: number | undefined;
  /** How often a PING goes out; a broker that is silent for twice as long is given up. */
  readonly keepAliveMs?: number | undefined;
  readonly onEvent?: EventListener | undefined;
  /** What the client runs in: real time, real chance and real sockets unless given. */
  readonly world?: Partial<World> | undefined;
}

/** Everything that comes from outside a program. */
export interface World {
  readonly timer: Timer;
  /** For the dates in messages only. */
  readonly wallClock: Clock;
  readonly random: Random;
  readonly dial: Dial;
}

const KNOWN: ReadonlySet<string> = new Set([
  "token",
  "tls",
  "connectTimeoutMs",
  "operationTimeoutMs",
  "keepAliveMs",
  "onEvent",
  "world",
]);
const KNOWN_OF_TLS: ReadonlySet<string> = new Set([
  "ca",
  "cert",
  "key",
  "dangerouslyAllowAnyCertificate",
]);
const KNOWN_OF_WORLD: ReadonlySet<string> = new Set(["timer", "wallClock", "random", "dial"]);

const CONNECT_TIMEOUT_MS = 10_000;
const OPERATION_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_MS = 30_000;

/** Checks the options and fills in what was left out. */
export function resolveClientOptions(options: ClientOptions): {
  means: ClusterMeans;
  connection: ConnectionOptions;
} {
  requireKnownKeys("a client", options, KNOWN);
  const { token, tls = {}, world = {}, onEvent = ignoreEvent } = options;
  requireKnownKeys("tls", tls, KNOWN_OF_TLS);
  requireKnownKeys("world", world, KNOWN_OF_WORLD);
  if (token !== undefined && typeof token !== "string" && typeof token !== "function")
    throw new ConfigError("token must be a string or a function that returns one");
  if (typeof onEvent !== "function") throw new ConfigError("onEvent must be a function");
  const {
    timer = systemTimer,
    wallClock = systemWallClock,
    random = systemRandom,
    dial = createSocketDial(tls),
  } = world;
  const authentication = authenticationOf(token);
  return {
    means: { timer, wallClock, random, dial, authentication, emit: guarded(onEvent) },
    connection: timesOf(options),
  };
}

function timesOf(options: ClientOptions): ConnectionOptions {
  const {
    connectTimeoutMs = CONNECT_TIMEOUT_MS,
    operationTimeoutMs = OPERATION_TIMEOUT_MS,
    keepAliveMs = KEEP_ALIVE_MS,
  } = options;
  const times = { connectTimeoutMs, operationTimeoutMs, keepAliveMs };
  for (const [name, ms] of Object.entries(times)) requireDuration(name, ms, 1);
  return times;
}

function ignoreEvent(): void {}

/** What a listener throws is lost, since the client must go on. */
function guarded(listener: EventListener): EventListener {
  return (event) => {
    try {
      const told: unknown = listener(event);
      // It may be an async function, whatever its type says.
      if (told instanceof Promise) told.catch(() => undefined);
    } catch {
      // Nobody else is to suffer for it.
    }
  };
}
