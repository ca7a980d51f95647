import { ConfigError } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { CountedByteBudget } from "../memory/counted-byte-budget.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import type { SessionLimits } from "../session/limits.ts";
import { ConnectionCount, connectionLimits } from "./socket/connection-limits.ts";
import type { ConnectionLimits } from "./socket/connection-limits.ts";
import { Descriptors } from "./socket/descriptors.ts";
import { Door } from "./socket/door.ts";
import { isLoopback, parseListenAddress, serviceUrl } from "./socket/listen-address.ts";
import type { ListenAddress } from "./socket/listen-address.ts";
import type { TlsFiles } from "./socket/listener.ts";
import { reachableHost } from "./socket/reachable-host.ts";

/** How clients reach a broker or a gateway. */
export interface FrontOptions {
  /** pulsar://127.0.0.1:6650 unless given. Two may be given, one of them pulsar+ssl://. */
  readonly listen?: string | readonly string[];
  /** The host that clients are sent to, if it is not the one to listen on. Default: the host to listen on. */
  readonly advertisedHost?: string;
  /** Needed to listen on an address that other machines reach without authentication and TLS. Default: false. */
  readonly allowAnonymous?: boolean;
  /** Certificate and key, PEM, for addresses of pulsar+ssl://. Default: none. */
  readonly tls?: TlsFiles;
  /** Bounds of connections. Default: 10 000, and 256 of one address. */
  readonly connections?: Partial<ConnectionLimits>;
  /**
   * Bytes by which connections and subscriptions may make the process grow: partial frames, entries
   * being stored or sent, read-ahead. Three quarters of it are counted, and never more; SENDs of
   * connections that keep more than 16 KiB wait from three quarters of these on. 256 MiB unless given.
   */
  readonly memoryBytesMax?: number;
}

const LISTEN = "pulsar://127.0.0.1:6650";
const MEMORY_BYTES_MAX = 256 * 1024 * 1024;

/**
 * The part of `memoryBytesMax` that is counted. The rest is for garbage and the gaps of the allocator:
 * 1.3 to 1.7 bytes of process memory were measured for a counted one, under 1,000 hostile clients.
 */
const COUNTED_PART = 3 / 4;

/** Connections beyond the maximum that are told so at a time; more are dropped without an answer. */
const CONNECTIONS_TO_REFUSE = 100;

/**
 * The addresses to listen on. `authentication`: whether clients must prove who they are; "upstream" if only
 * the brokers behind this process could ask.
 */
export function listenAddresses(
  { listen = LISTEN, allowAnonymous = false }: FrontOptions,
  authentication: "token" | "none" | "upstream",
): readonly ListenAddress[] {
  const addresses = (typeof listen === "string" ? [listen] : listen).map(parseListenAddress);
  if (addresses.length === 0) throw new ConfigError("listen is empty; name an address at least");
  for (const { host, isTls } of addresses) {
    if (isLoopback(host) || authentication === "token" || isTls || allowAnonymous) continue;
    const [lack, way] =
      authentication === "upstream" ? ["TLS", ""] : ["token and TLS", "add token, "];
    throw new ConfigError(
      `listen has ${host}, which other machines reach, without ${lack}; ${way}listen on pulsar+ssl:// or 127.0.0.1, or set allowAnonymous: true`,
    );
  }
  return addresses;
}

/** The byte budget of the process. */
export function createMemory(
  { memoryBytesMax = MEMORY_BYTES_MAX }: { readonly memoryBytesMax?: number | undefined },
  observe: BrokerObserver,
): CountedByteBudget {
  const memory = new CountedByteBudget(Math.floor(memoryBytesMax * COUNTED_PART), (isExhausted) => {
    const { bytes, bytesMax } = memory;
    observe(
      isExhausted ? { kind: "memory-full", bytes, bytesMax } : { kind: "memory-free", bytes },
    );
  });
  return memory;
}

export function createDoor(
  { tls, connections }: FrontOptions,
  { greetingMs }: SessionLimits,
  { observe, clock }: { readonly observe: BrokerObserver; readonly clock: Clock },
): Door {
  const limits = connectionLimits(connections);
  return new Door({
    tls,
    count: new ConnectionCount(limits, clock),
    descriptors: new Descriptors(),
    connectionsMax: limits.connectionsMax + CONNECTIONS_TO_REFUSE,
    tlsHandshakeMs: greetingMs,
    onAcceptError: (error) => observe({ kind: "error", error }),
  });
}

/** The URLs that clients are given, one for each open address. */
export function urlsOf({ addresses }: Door, { advertisedHost }: FrontOptions): readonly string[] {
  return addresses.map((address) =>
    serviceUrl({ ...address, host: advertisedHost ?? reachableHost(address.host) }),
  );
}
