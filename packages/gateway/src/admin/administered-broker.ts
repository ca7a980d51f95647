import type { BrokerAdministration } from "../broker/administration.ts";
import type { SchemaRegistry } from "../schema/schema-registry.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import type { ResolvedSettings } from "../topic/settings.ts";
import type { RoleTokens } from "./http/guard.ts";

/** What a broker hands to its administration. */
export interface AdministeredBroker {
  readonly broker: BrokerAdministration;
  readonly schemas: SchemaRegistry;
  readonly policies: PolicyBook;
  /** Undefined if the broker asks its clients for no token. */
  readonly roles: RoleTokens | undefined;
  readonly settings: ResolvedSettings;
}
