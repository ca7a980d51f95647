import type {
  AdministeredBroker,
  AdministeredGateway,
  AdministrableGateway,
  BrokerStats,
  Throttling,
} from "../administered-broker.ts";
import { CLUSTER } from "../cluster.ts";

/** A gateway as state and metrics see it. */
export interface ObservedGateway {
  readonly cluster: string;
  /** "embedded", or the URL of the cluster. */
  readonly upstream: string;
  readonly urls: readonly string[];
  readonly stats: () => Promise<BrokerStats>;
  readonly throttling: Throttling;
  readonly shares: AdministeredGateway["shares"];
}

export function observedGateway(gateway: AdministrableGateway): ObservedGateway {
  const { administered, urls } = gateway;
  return {
    cluster: CLUSTER,
    upstream: administered.upstream,
    urls,
    throttling: administered.throttling,
    shares: administered.shares,
    stats: async () => ({
      ...administered.connections(),
      topics: (await embeddedOf(gateway)?.broker.openTopicStats()) ?? [],
    }),
  };
}

/** Undefined in front of a cluster. */
export function embeddedOf({ administered }: AdministrableGateway): AdministeredBroker | undefined {
  return "broker" in administered ? administered : undefined;
}
