import type { BrokerAdministration } from "../broker/administration.ts";
import type { SchemaRegistry } from "../schema/schema-registry.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import type { ServerStats } from "../server/server.ts";
import type { TopicStats } from "../topic/topic-stats.ts";
import type { ResolvedSettings } from "../topic/settings.ts";
import type { RoleTokens } from "./http/guard.ts";

export interface BrokerStats extends ServerStats {
  /** Of the topics that are open. */
  readonly topics: readonly TopicStats[];
}

/** A running broker as its administration sees it. */
export interface AdministrableBroker {
  /** Where clients connect: pulsar:// and pulsar+ssl://. */
  readonly urls: readonly string[];
  readonly administered: AdministeredBroker;
  /** Why it serves no clients; undefined while it does. */
  notReady(): string | undefined;
}

/** What a broker hands to its administration. */
export interface AdministeredBroker {
  readonly broker: BrokerAdministration;
  readonly connections: () => ServerStats;
  readonly schemas: SchemaRegistry;
  readonly policies: PolicyBook;
  /** Undefined if the broker asks its clients for no token. */
  readonly roles: RoleTokens | undefined;
  readonly settings: ResolvedSettings;
}
