import type { Clock, Timer } from "@sluice/core";
import type { BrokerObserver } from "../observe/broker-event.ts";
import type { RefusalError } from "../refusal/refusal-error.ts";
import type { ResolvedSettings } from "./settings.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer-handle.ts";
import type { NameMaker } from "./name-maker.ts";
import type { ProducerHandle, ProducerRequest } from "./producer-handle.ts";

export interface SubscriptionStats {
  readonly name: string;
  readonly type: string;
  readonly isDurable: boolean;
  readonly consumers: number;
  /** Messages that consumers have and have not acknowledged; only shared subscriptions count. */
  readonly unackedMessages: number;
  /** Entries that are not acknowledged. */
  readonly backlogEntries: number;
}

export interface TopicStats {
  readonly name: string;
  readonly producers: number;
  readonly sizeBytes: number;
  /** Messages of a non-persistent topic that somebody could not take. */
  readonly droppedMessages: number;
  /** Why the topic has stopped. */
  readonly failure: string | undefined;
  readonly subscriptions: readonly SubscriptionStats[];
}

/** What all topics are given. */
export interface TopicSurroundings {
  readonly timer: Timer;
  readonly wallClock: Clock;
  readonly nextTurn: () => Promise<void>;
  readonly names: NameMaker;
  readonly settings: ResolvedSettings;
  readonly observe: BrokerObserver;
}

/** One topic that is not partitioned, or one partition. */
export interface Topic {
  /** Whether it has producers or consumers. */
  readonly isUsed: boolean;
  openProducer(request: ProducerRequest): Promise<ProducerHandle>;
  subscribe(request: ConsumerRequest): Promise<ConsumerHandle>;
  /** Removes what retention does not keep. Called now and then. */
  tidy(): Promise<void>;
  stats(): TopicStats;
  /** Closes producers and consumers and tells them why. Saves what is to be saved. */
  close(why: RefusalError): Promise<void>;
}
