import type {
  AdministeredBroker,
  AdministrableBroker,
  BrokerStats,
} from "./admin/administered-broker.ts";
import type { Broker } from "./broker/broker.ts";
import type { GatewayIngress } from "./running-gateway.ts";
import type { DecisionLoop } from "./observe/decision-loop.ts";
import type { GroupShares } from "./ingress/fleet/group-shares.ts";
import type { Server } from "./server/server.ts";
import type { Door } from "./server/socket/door.ts";

export interface RunningBroker extends AdministrableBroker {
  /** What clients are given, without TLS if there is a choice. */
  readonly url: string;
  readonly port: number;
  /** Publish limits, and what waits for them. A change here ends with the process; `administered.limitBook` keeps it. */
  readonly ingress: GatewayIngress;
  stats(): BrokerStats;
  /** Stores what was read, tells all clients, and ends. */
  close(): Promise<void>;
}

interface Parts {
  readonly door: Door;
  readonly server: Server;
  readonly broker: Broker;
  readonly shares: GroupShares | undefined;
  readonly decisions: DecisionLoop;
  readonly ingress: GatewayIngress;
}

/** The parts of a broker that runs. */
export class RunningEmbedded implements RunningBroker {
  readonly url: string;
  readonly port: number;
  readonly urls: readonly string[];
  readonly administered: AdministeredBroker;
  readonly ingress: GatewayIngress;
  readonly #door: Door;
  readonly #server: Server;
  readonly #broker: Broker;
  readonly #decisions: DecisionLoop;
  readonly #shares: GroupShares | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    { door, server, broker, shares, decisions, ingress }: Parts,
    urls: readonly string[],
    administered: AdministeredBroker,
  ) {
    this.ingress = ingress;
    this.#door = door;
    this.administered = administered;
    this.#server = server;
    this.#broker = broker;
    this.#decisions = decisions;
    this.#shares = shares;
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
    this.#decisions.close();
    const closed = this.#door.close();
    await this.#server.stopReading();
    try {
      await this.#broker.close();
    } finally {
      await this.#server.close();
      await this.#shares?.close();
      await closed;
    }
  }
}
