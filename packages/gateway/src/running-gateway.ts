import type { AdministeredGateway, AdministrableGateway } from "./admin/administered-broker.ts";
import type { BrokerWorld } from "./broker-world.ts";
import type { GroupShares } from "./ingress/fleet/group-shares.ts";
import type { Ingress } from "./ingress/ingress.ts";
import type { DecisionLoop } from "./observe/decision-loop.ts";
import type { Server, ServerStats } from "./server/server.ts";
import type { Door } from "./server/socket/door.ts";
import type { GatewayStore } from "./storage/store/gateway-store.ts";
import type { UpstreamWatch } from "./upstream/upstream-watch.ts";

export interface GatewayStats extends ServerStats {
  /** Connections to brokers that have said CONNECTED. */
  readonly upstreamConnections: number;
  /** Brokers that were lost and have not been reached again. */
  readonly lostUpstreams: readonly string[];
}

/** What an administrator sees and changes of the publish limits. */
export type GatewayIngress = Pick<
  Ingress<never>,
  "limits" | "waiting" | "limitedTotals" | "pauses" | "noticeCounts"
>;

export interface RunningGateway extends AdministrableGateway {
  /** Publish limits, which may be changed, and what waits for them. */
  readonly ingress: GatewayIngress;
  /** What clients are given, without TLS if there is a choice. */
  readonly url: string;
  readonly urls: readonly string[];
  readonly port: number;
  stats(): GatewayStats;
  /** Reads nothing more, waits for the receipts of what was forwarded, then ends all connections. */
  close(): Promise<void>;
}

/** How often `close` looks whether all receipts have come. */
const DRAIN_POLL_MS = 10;

export interface GatewayParts {
  readonly door: Door;
  readonly server: Server;
  readonly watch: UpstreamWatch;
  readonly ingress: GatewayIngress;
  readonly administered: AdministeredGateway;
  readonly decisions: DecisionLoop;
  readonly shares: GroupShares | undefined;
  /** Closed last, after whatever could still store something. */
  readonly store: GatewayStore;
}

/** The parts of a gateway that runs. */
export class RunningRelay implements RunningGateway {
  readonly ingress: GatewayIngress;
  readonly administered: AdministeredGateway;
  readonly #decisions: DecisionLoop;
  readonly url: string;
  readonly urls: readonly string[];
  readonly port: number;
  readonly #door: Door;
  readonly #server: Server;
  readonly #watch: UpstreamWatch;
  readonly #shares: GroupShares | undefined;
  readonly #store: GatewayStore;
  readonly #drain: { readonly drainMs: number; readonly timer: BrokerWorld["timer"] };
  #closing: Promise<void> | undefined;

  constructor(
    { door, server, watch, ingress, shares, administered, decisions, store }: GatewayParts,
    urls: readonly string[],
    drain: { readonly drainMs: number; readonly timer: BrokerWorld["timer"] },
  ) {
    this.ingress = ingress;
    this.administered = administered;
    this.#decisions = decisions;
    this.#door = door;
    this.#server = server;
    this.#watch = watch;
    this.#shares = shares;
    this.#store = store;
    this.#drain = drain;
    this.urls = urls;
    this.url = urls.find((url) => url.startsWith("pulsar://")) ?? urls[0] ?? "";
    this.port = door.addresses[urls.indexOf(this.url)]?.port ?? 0;
  }

  notReady(): string | undefined {
    return this.#closing === undefined ? undefined : "the gateway is closing";
  }

  stats(): GatewayStats {
    const { connections: upstreamConnections, lost: lostUpstreams } = this.#watch;
    return { ...this.#server.stats(), upstreamConnections, lostUpstreams };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#decisions.close();
    const { drainMs, timer } = this.#drain;
    const closed = this.#door.close();
    await this.#server.stopReading();
    const untilMs = timer.now() + drainMs;
    while (this.#server.stats().pendingSends > 0 && timer.now() < untilMs)
      await timer.sleep(DRAIN_POLL_MS);
    await this.#server.close();
    await this.#shares?.close();
    await closed;
    await this.#store.close();
  }
}
