import type { Clock, Timer } from "@sluice/core";
import type { BrokerObserver } from "../observe/broker-event.ts";
import type { TopicPolicies } from "../policy/topic-policy.ts";
import type { RefusalError } from "../refusal/refusal-error.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer/consumer-handle.ts";
import type { DeliveryTurns } from "./subscription/delivery-turns.ts";
import type { NameMaker } from "./producer/name-maker.ts";
import type { ReadAheadMemory } from "./subscription/read-ahead-memory.ts";
import type { ProducerHandle, ProducerRequest } from "./producer/producer-handle.ts";
import type { ResolvedSettings } from "./settings.ts";
import type { Listing, Steps } from "./stats-steps.ts";
import type { TopicStats } from "./topic-stats.ts";

/** What all topics are given. */
export interface TopicSurroundings {
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly nextTurn: () => Promise<void>;
  readonly deliveryTurns: DeliveryTurns;
  readonly names: NameMaker;
  readonly settings: ResolvedSettings;
  readonly observe: BrokerObserver;
  readonly policies: TopicPolicies;
  readonly readAhead: ReadAheadMemory;
  /** Subscriptions of all persistent topics that are open. */
  readonly subscriptions: { count: number };
}

/** A topic refuses all clients until it is opened again. */
export interface Stop {
  readonly why: RefusalError;
  /** In the time of the timer. */
  readonly atMs: number;
}

/** One topic that is not partitioned, or one partition. */
export interface Topic {
  /** Whether it has producers or consumers. */
  readonly isUsed: boolean;
  /** Why it serves nobody until it is opened again; undefined while it does. */
  readonly stopped: Stop | undefined;
  openProducer(request: ProducerRequest): Promise<ProducerHandle>;
  subscribe(request: ConsumerRequest): Promise<ConsumerHandle>;
  /** Removes what retention does not keep. Called now and then. */
  tidy(): Promise<void>;
  /** Applies the backlog quota. Called every `quotaCheckMs`. */
  check(): Promise<void>;
  stats(listing: Listing): Steps<TopicStats>;
  /** Closes producers and consumers and tells them why. Saves what is to be saved. */
  close(why: RefusalError): Promise<void>;
}
