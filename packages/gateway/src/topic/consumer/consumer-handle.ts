import type { RefusalError } from "../../refusal/refusal-error.ts";
import type { Ack, Delivery } from "../../subscription/delivery.ts";
import type { KeyRange } from "../../subscription/dispatch/key-shared/key-assignment.ts";
import type { SubscriptionType } from "../../subscription/subscription.ts";
import type { Position } from "../../storage/position.ts";
import type { StoredEntry } from "../../storage/log/topic-log.ts";
import type { ClientFacts, ConsumerStats } from "../topic-stats.ts";

/** Where a subscription begins. What a position names need not be there: what follows it counts. */
export type StartPoint =
  | { readonly kind: "earliest" }
  | { readonly kind: "latest" }
  | { readonly kind: "at"; readonly position: Position };

export type SeekPoint =
  | StartPoint
  /** The first entry that was published then or later. */
  | { readonly kind: "time"; readonly atMs: number };

/** What a session says when it subscribes, and what it wants to hear. */
export interface ConsumerRequest {
  readonly topic: string;
  readonly subscription: string;
  readonly type: SubscriptionType;
  /** Key_Shared in sticky mode: the hashes of keys, 0 to 65,535, that this consumer gets. */
  readonly keyRanges?: readonly KeyRange[] | undefined;
  /** Made up by the broker if absent. */
  readonly consumerName?: string | undefined;
  /** Lower goes first. */
  readonly priorityLevel: number;
  /** A subscription that is not durable ends with its last consumer, and keeps no entry alive. */
  readonly isDurable: boolean;
  /** Where a new subscription begins; one that exists goes on where it is. */
  readonly start: SeekPoint;
  /** False: a topic that is not there is refused. */
  readonly mayCreateTopic: boolean;
  /**
   * Entries in the order in which the consumer must see them; never called before `subscribe` has
   * resolved nor after the handle is closed. It may call the handle.
   */
  readonly deliver: (deliveries: readonly Delivery[]) => void;
  /** Failover only: whether entries come to this consumer. The handle tells how it was at first. */
  readonly onActiveChange: (isActive: boolean) => void;
  /** The broker has closed the consumer: a consumer sought, or its topic is gone or has stopped. */
  readonly onClosed: (why: RefusalError) => void;
  /** The topic is terminated and all its entries are acknowledged. Called once at most. */
  readonly onReachedEnd?: (() => void) | undefined;
  /** Another client was refused because of this consumer, which may be of a client that is gone. */
  readonly onContested?: (() => void) | undefined;
  /** For statistics. */
  readonly client?: ClientFacts | undefined;
}

/** Calls on a handle that is closed do nothing. */
export interface ConsumerHandle {
  readonly name: string;
  /** Whether entries come to this consumer; always so but in failover. */
  readonly isActive: boolean;

  /** Lets so many more messages come. An entry is delivered whole, so its last ones may exceed it. */
  flow(permits: number): void;

  /** Takes back up to so many permits that are not used; answers how many. */
  withdraw(permitsMost: number): number;

  /** Nothing is delivered until `resume`, whatever the permits: the socket does not keep up. */
  pause(): void;
  resume(): void;

  /** Acknowledges each of these. */
  acknowledge(acks: readonly Ack[]): void;
  /** Acknowledges this and all before it. Throws a `RefusalError` if the subscription is shared. */
  acknowledgeUpTo(ack: Ack): void;

  /** Delivers these again, to any consumer; all that is not acknowledged unless it is shared. */
  redeliver(positions: readonly Position[]): void;
  /** Delivers again what this consumer has not acknowledged. */
  redeliverAll(): void;

  /**
   * Moves the subscription. All its consumers are closed, this one too, before it resolves; they must
   * subscribe again, as Pulsar's clients do.
   */
  seek(to: SeekPoint): Promise<void>;

  /** Of the topic; undefined if it has none. */
  lastEntry(): Promise<StoredEntry | undefined>;
  /** All entries up to this one are acknowledged; undefined if the first is not. */
  markDeletePosition(): Position | undefined;

  /** Entries of the subscription that are not acknowledged. */
  readonly backlogEntries: number;
  /** Undefined once it is closed. */
  stats(): ConsumerStats | undefined;

  /** Ends the subscription for good. Refused while it has other consumers. */
  unsubscribe(): Promise<void>;

  /** Idempotent. What it has not acknowledged goes to others, or to its successor. */
  close(): void;
}
