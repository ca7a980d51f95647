import type { Clock } from "@sluice/core";
import type { BrokerAdministration } from "../../broker/administration.ts";
import type { PolicyBook } from "../../policy/policy-book.ts";

/** What Pulsar's admin paths stand on. */
export interface BrokerAdmin {
  readonly broker: BrokerAdministration;
  readonly policies: PolicyBook;
  readonly wallClock: Clock;
  /** Name of the one cluster that tools see. */
  readonly cluster: string;
  readonly version: string;
  /** Whether a client's first use creates a topic. */
  readonly autoCreateTopics: boolean;
  readonly partitionsMax: number;
  readonly urls: () => ServiceUrls;
}

/** Where clients connect. */
export interface ServiceUrls {
  /** pulsar:// */
  readonly broker: string | undefined;
  /** pulsar+ssl:// */
  readonly brokerTls: string | undefined;
  /** http:// of the administration itself. */
  readonly http: string;
}
