import type { Clock } from "@sluice/core";
import type { AdministeredBroker } from "../administered-broker.ts";

/** What Pulsar's admin paths stand on. */
export interface BrokerAdmin extends AdministeredBroker {
  readonly wallClock: Clock;
  /** Name of the one cluster that tools see. */
  readonly cluster: string;
  readonly version: string;
  readonly urls: () => ServiceUrls;
}

/** Where clients connect. */
interface ServiceUrls {
  /** pulsar:// */
  readonly broker: string | undefined;
  /** pulsar+ssl:// */
  readonly brokerTls: string | undefined;
  /** http:// of the administration itself. */
  readonly http: string;
}
