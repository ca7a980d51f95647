import type { PoolStore } from "@sluice/fleet";
import type { RoleOptions } from "./auth/permissions.ts";
import type { TokenAuthenticatorOptions } from "./auth/token-authenticator.ts";
import type { FleetSettings } from "./ingress/fleet/fleet-settings.ts";
import type { IngressSettings } from "./ingress/settings.ts";
import type { BrokerObserver } from "./observe/broker-event.ts";
import type { FrontOptions } from "./server/front.ts";
import type { SessionLimits } from "./session/limits.ts";
import type { BrokerSettings } from "./topic/settings.ts";

/** How clients prove who they are: by tokens that are signed with this key. */
export type TokenOptions = Omit<TokenAuthenticatorOptions, "wallClock">;

export interface StartBrokerOptions extends FrontOptions {
  /** A folder that keeps everything over restarts, or nothing but memory. */
  readonly data: { readonly folder: string } | "memory";
  /** Topics that have partitions, and how many. Default: none. */
  readonly partitions?: Readonly<Record<string, number>>;
  /** Without it every client may connect. */
  readonly token?: TokenOptions;
  /**
   * What the roles of tokens may do; a role that is not named may do nothing. Without it every client
   * that may connect may do everything. Needs `token`.
   */
  readonly roles?: Readonly<Record<string, RoleOptions>>;
  /** Of the topics. Default: those of `BrokerSettings`. */
  readonly broker?: BrokerSettings;
  /** Of each connection. Default: those of `docs/reference/broker.md`, under Bounds. */
  readonly session?: Partial<SessionLimits>;
  /** Of publishing, deliveries and SUBSCRIBE, and what waits for them. None unless given. */
  readonly limits?: IngressSettings;
  /**
   * Where gateways meet that share limits: a store of `@sluice/fleet`, which the caller closes.
   * Default: none; limits are this process's own.
   */
  readonly store?: PoolStore;
  /** Which gateways of the store share limits. Default: those of `FleetSettings`. */
  readonly fleet?: FleetSettings;
  /** Hears what an operator should know. What it throws is dropped. Default: none. */
  readonly observe?: BrokerObserver;
}

/** The options that there are. */
export const BROKER_OPTIONS: ReadonlySet<string> = new Set([
  "listen",
  "advertisedHost",
  "data",
  "partitions",
  "token",
  "tls",
  "broker",
  "session",
  "connections",
  "limits",
  "store",
  "fleet",
  "roles",
  "allowAnonymous",
  "memoryBytesMax",
  "observe",
]);
