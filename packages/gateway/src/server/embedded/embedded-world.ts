import type { Clock } from "@sluice/core";
import type { KeyValue } from "@sluice/pulsar/wire";
import type { TokenAuthenticator } from "../../auth/token-authenticator.ts";
import type { Broker } from "../../broker/broker.ts";
import type { Dispatch } from "../../ingress/dispatch/dispatch.ts";
import type { Ingress } from "../../ingress/ingress.ts";
import type { ByteBudget } from "../../memory/byte-budget.ts";
import type { BrokerObserver } from "../../observe/broker-event.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import type { SchemaRegistry } from "../../schema/schema-registry.ts";
import type { ResultEvent } from "../../session/session-event.ts";
import type { ClientFacts } from "../../topic/topic-stats.ts";
import type { ClientBytes } from "./client-bytes.ts";
import type { HeldPublish } from "./held-publish.ts";

/** What the producers of all connections share. */
export interface ProducerWorld {
  readonly broker: Pick<Broker, "openProducer">;
  readonly schemas: Pick<SchemaRegistry, "put">;
  readonly memory: ByteBudget;
  readonly ingress: Ingress<HeldPublish>;
  readonly clock: Clock;
}

/** What the connections of an embedded broker share. */
export interface EmbeddedWorld extends ProducerWorld {
  readonly dispatch: Dispatch;
  readonly broker: Broker;
  readonly schemas: SchemaRegistry;
  readonly wallClock: Clock;
  readonly authenticator: TokenAuthenticator | undefined;
  readonly observe: BrokerObserver;
}

/** The broker has closed a producer or consumer of a connection. */
export type ClosedByBroker = Extract<
  ResultEvent,
  { readonly kind: "producerClosed" | "consumerClosed" }
>;

/** What the producers and the consumers of one connection have of it. */
export interface EmbeddedConnection {
  /** The peer, as "host:port". */
  readonly address: string;
  readonly clientVersion: string;
  readonly clientBytes: ClientBytes;
  /** Tells the session of a result. */
  readonly report: (event: ResultEvent) => void;
  /** As `report`; the client may be told in a later turn. */
  reportClosed(event: ClosedByBroker): void;
  /** Another client wants what a producer or consumer of this one has: its client must show that it lives. */
  onContested(): void;
}

export function clientFacts(
  { address, clientVersion }: EmbeddedConnection,
  metadata: readonly KeyValue[] = [],
): ClientFacts {
  return {
    address,
    clientVersion,
    metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
  };
}

/** Refuses what would take lasting memory, so that clients try again later. */
export function requireMemory(isExhausted: boolean): void {
  if (isExhausted)
    throw new RefusalError("ServiceNotReady", "the broker's memory is full; try again later");
}
