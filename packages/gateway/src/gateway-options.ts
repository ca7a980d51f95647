import { ConfigError } from "@sluice/core";
import { requireDuration, requireKnownKeys } from "@sluice/core/internal";
import type { PoolStore } from "@sluice/fleet";
import type { TlsOptions } from "@sluice/pulsar";
import { parseServiceUrl } from "@sluice/pulsar/wire";
import type { ServiceUrl } from "@sluice/pulsar/wire";
import type { FleetSettings } from "./ingress/fleet/fleet-settings.ts";
import type { IngressSettings } from "./ingress/settings.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import type { LookupStyle } from "./relay/relay-context.ts";
import type { FrontOptions } from "./server/front.ts";
import type { SessionLimits } from "./session/limits.ts";
import type { AllowedTargets } from "./upstream/target-guard.ts";

/** The cluster behind a gateway. */
export interface UpstreamOptions {
  /** pulsar://host:6650, or pulsar+ssl://host:6651; several hosts between commas are tried in turn. */
  readonly url: string;
  /**
   * For pulsar+ssl://: the CA to trust, and a certificate of the gateway's own.
   * Default: the CAs of Node, no certificate.
   */
  readonly tls?: TlsOptions;
  /** Brokers beside those of `url` that clients may be connected to. Default: none. */
  readonly allow?: AllowedTargets;
  /** Where lookups send clients. `auto` unless given. */
  readonly lookup?: LookupStyle;
  /** How long one address may take to accept a connection. 5 s unless given. */
  readonly connectMs?: number;
  /** From a client's CONNECT to the broker's CONNECTED. 30 s unless given. */
  readonly handshakeMs?: number;
  /** What brokers are told about us; nothing unless given. */
  readonly proxyVersion?: string;
}

export interface StartGatewayOptions extends FrontOptions {
  readonly upstream: string | UpstreamOptions;
  /** Of publishing, deliveries and SUBSCRIBE, and what waits for them. None unless given. */
  readonly limits?: IngressSettings;
  /** A folder that keeps limits that were set while it ran over restarts, or nothing but memory, unless given. */
  readonly data?: { readonly folder: string } | "memory";
  /**
   * Where gateways meet that share limits: a store of `@sluice/fleet`, which the caller closes.
   * Default: none; limits are this process's own.
   */
  readonly store?: PoolStore;
  /** Which gateways of the store share limits. Default: those of `FleetSettings`. */
  readonly fleet?: FleetSettings;
  /** Of each connection. Default: those of `docs/reference/broker.md`, under Bounds. */
  readonly session?: Partial<SessionLimits>;
  /** How long `close` waits for the receipts of what was forwarded. 5 s unless given. */
  readonly drainMs?: number;
  /** Hears what an operator should know. What it throws is dropped. Default: none. */
  readonly observe?: BrokerObserver;
}

/** The options that there are. */
export const GATEWAY_OPTIONS: ReadonlySet<string> = new Set([
  "upstream",
  "limits",
  "data",
  "store",
  "fleet",
  "listen",
  "advertisedHost",
  "allowAnonymous",
  "tls",
  "connections",
  "memoryBytesMax",
  "session",
  "drainMs",
  "observe",
]);

const UPSTREAM_KNOWN: ReadonlySet<string> = new Set([
  "url",
  "tls",
  "allow",
  "lookup",
  "connectMs",
  "handshakeMs",
  "proxyVersion",
]);

const ALLOW_KNOWN: ReadonlySet<string> = new Set(["hosts", "addresses"]);

const LOOKUP_STYLES: readonly LookupStyle[] = ["auto", "proxy", "own-address"];

/** The cluster of the options, checked. */
export function upstreamOf(given: string | UpstreamOptions | undefined): {
  readonly upstream: UpstreamOptions;
  readonly service: ServiceUrl;
} {
  if (given === undefined || given === "embedded")
    throw new ConfigError(
      `upstream is ${given ?? "missing"}; give the URL of a cluster, such as pulsar://localhost:6650, or use startBroker for the embedded broker`,
    );
  const upstream = typeof given === "string" ? { url: given } : given;
  requireKnownKeys("upstream", upstream, UPSTREAM_KNOWN);
  const { url, tls, allow = {}, lookup = "auto", connectMs = 1, handshakeMs = 1 } = upstream;
  requireKnownKeys("upstream.allow", allow, ALLOW_KNOWN);
  requireDuration("connectMs", connectMs, 1);
  requireDuration("handshakeMs", handshakeMs, 1);
  if (!LOOKUP_STYLES.includes(lookup))
    throw new ConfigError(`lookup is "${lookup}"; use ${LOOKUP_STYLES.join(", ")}`);
  const service = parseServiceUrl(url);
  if (tls !== undefined && !service.isTls)
    throw new ConfigError("upstream has tls, but its url begins with pulsar://; use pulsar+ssl://");
  return { upstream, service };
}
