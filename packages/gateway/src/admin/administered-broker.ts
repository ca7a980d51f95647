import type { BrokerAdministration } from "../broker/administration.ts";
import type { LimitedTotal } from "../ingress/desk/limited-times.ts";
import type { Dispatch } from "../ingress/dispatch/dispatch.ts";
import type { GroupShares } from "../ingress/fleet/group-shares.ts";
import type { ConnectionPauses } from "../ingress/ingress.ts";
import type { NoticeCounts } from "../ingress/notices/aware-connection.ts";
import type { SchemaRegistry } from "../schema/schema-registry.ts";
import type { PolicyBook } from "../policy/policy-book.ts";
import type { ServerStats } from "../server/server.ts";
import type { TopicStats } from "../topic/topic-stats.ts";
import type { ResolvedSettings } from "../topic/settings.ts";
import type { LevelState } from "../ingress/limits/limit-settings.ts";
import type { DispatchBook } from "../limit-book/dispatch-book.ts";
import type { SubscribeBook } from "../limit-book/subscribe-book.ts";
import type { LimitBook } from "../limit-book/limit-book.ts";
import type { LimitGroup } from "../ingress/limits/limit-settings.ts";
import type { PublishingProducer } from "../observe/publishing.ts";
import type { RateParts, WaitingSnapshot } from "../observe/waiting.ts";
import type { RoleTokens } from "./http/guard.ts";

export interface BrokerStats extends ServerStats {
  /** Of the topics that are open. */
  readonly topics: readonly TopicStats[];
}

/** A running gateway as its administration sees it. */
export interface AdministrableGateway {
  /** Where clients connect: pulsar:// and pulsar+ssl://. */
  readonly urls: readonly string[];
  readonly administered: AdministeredGateway | AdministeredBroker;
  /** Why it serves no clients; undefined while it does. */
  notReady(): string | undefined;
}

/** A gateway with the embedded broker behind it. */
export interface AdministrableBroker extends AdministrableGateway {
  readonly administered: AdministeredBroker;
}

/** What every gateway hands to its administration. Topics of a cluster are administered at the cluster. */
export interface AdministeredGateway {
  /** "embedded", or the URL of the cluster. */
  readonly upstream: string;
  readonly connections: () => ServerStats;
  /** Undefined if clients are asked for no token here. */
  readonly roles: RoleTokens | undefined;
  readonly limitBook: LimitBook;
  readonly dispatchBook: DispatchBook;
  readonly subscribeBook: SubscribeBook;
  readonly throttling: Throttling;
  /** Limits that several gateways share; undefined without a store. */
  readonly shares: Pick<GroupShares, "states"> | undefined;
}

/** What an embedded broker hands to its administration. */
export interface AdministeredBroker extends AdministeredGateway {
  readonly broker: BrokerAdministration;
  readonly schemas: SchemaRegistry;
  readonly policies: PolicyBook;
  readonly isAuthorizationOn: boolean;
  readonly settings: ResolvedSettings;
  /** Of deliveries and of SUBSCRIBE; can be changed while the broker runs. */
  readonly dispatch: Pick<Dispatch, "limits" | "subscribeRates" | "countsOf">;
}

/** What the limits of publishing do. */
export interface Throttling {
  /** In monotonic time. */
  now(): number;
  waiting(): WaitingSnapshot;
  totals(): ThrottlingTotals;
  noticeCounts(): Readonly<NoticeCounts>;
  /** Every producer that is open, one step for each. */
  producers(): Iterable<PublishingProducer>;
  groups(): readonly LimitGroup[];
  /** The limit of the whole gateway. */
  brokerLimit(): RateParts | undefined;
}

/** Counted since the start. */
export interface ThrottlingTotals {
  readonly limited: readonly LimitedTotal[];
  readonly pauses: readonly ConnectionPauses[];
  readonly notices: Readonly<NoticeCounts>;
  readonly heldBytes: number;
  /** Of each limiter that has a bucket now. */
  readonly levels: readonly LevelState[];
}
