import type { Clock, Random, Timer } from "@sluice/core";
import { requireWhole } from "@sluice/core/internal";
import type { BrokerObserver } from "../observe/broker-event.ts";
import { SchemaRegistry } from "../schema/schema-registry.ts";
import type { BrokerStore } from "../storage/store/broker-store.ts";
import { Turns } from "../storage/turns.ts";
import type { ConsumerHandle, ConsumerRequest } from "../topic/consumer-handle.ts";
import { NameMaker } from "../topic/name-maker.ts";
import type { ProducerHandle, ProducerRequest } from "../topic/producer-handle.ts";
import { orRefusal } from "../topic/refusal.ts";
import { parseTopicName } from "../topic/topic-name.ts";
import type { TopicName } from "../topic/topic-name.ts";
import type { TopicStats } from "../topic/topic.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { resolveSettings } from "../topic/settings.ts";
import type { BrokerSettings, ResolvedSettings } from "../topic/settings.ts";
import { Topics } from "./topics.ts";

export interface BrokerDependencies {
  readonly store: BrokerStore;
  readonly timer: Timer;
  /** For publish times and retention. */
  readonly wallClock: Clock;
  readonly random: Random;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  readonly observe?: BrokerObserver | undefined;
}

/**
 * All topics of one process. Whatever is refused rejects with a `RefusalError`, which says what to
 * tell the client. A topic whose storage fails stops; the others go on.
 */
export class Broker {
  readonly schemas: SchemaRegistry;
  readonly #store: BrokerStore;
  readonly #timer: Timer;
  readonly #settings: ResolvedSettings;
  readonly #topics: Topics;
  /** Changes of the number of partitions. */
  readonly #turns = new Turns();
  readonly #closing = new AbortController();
  readonly #tidying: Promise<void>;
  #closed: Promise<void> | undefined;

  /** The store is the broker's from now on. */
  constructor(dependencies: BrokerDependencies, settings: BrokerSettings = {}) {
    const { store, timer, wallClock, random, nextTurn, observe = () => undefined } = dependencies;
    this.#store = store;
    this.schemas = new SchemaRegistry(store.schemas);
    this.#timer = timer;
    this.#settings = resolveSettings(settings);
    const names = new NameMaker(random);
    const surroundings = { timer, wallClock, nextTurn, names, settings: this.#settings, observe };
    this.#topics = new Topics(store, surroundings);
    this.#tidying = this.#tidyNowAndThen();
  }

  async openProducer(request: ProducerRequest): Promise<ProducerHandle> {
    const name = this.#usable(request.topic);
    const topic = await this.#topics.open(name, { mayCreate: true });
    return topic.openProducer(request);
  }

  async subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    const name = this.#usable(request.topic);
    const topic = await this.#topics.open(name, { mayCreate: request.mayCreateTopic });
    return topic.subscribe(request);
  }

  /** How many partitions a topic has; 0 if it is not partitioned, or not there. */
  partitionsOf(topic: string): number {
    return this.#store.partitionCounts().get(parseTopicName(topic).full) ?? 0;
  }

  /** Whether a topic exists, partitioned or not. */
  hasTopic(topic: string): boolean {
    return this.partitionsOf(topic) > 0 || this.#topics.has(parseTopicName(topic));
  }

  /** Resolves once it is durable. */
  async createPartitionedTopic(topic: string, count: number): Promise<void> {
    const { full, partition } = parseTopicName(topic);
    requireWhole("partitions", count, 1, this.#settings.limits.partitionsMax);
    if (partition !== undefined)
      throw new RefusalError("NotAllowedError", `${full} is a partition`);
    await this.#turns.run(() => {
      if (this.hasTopic(topic))
        throw new RefusalError("NotAllowedError", `topic ${full} exists already`);
      return orRefusal(this.#store.savePartitionCount(full, count));
    });
  }

  /** Full names of topics, partitions one by one; `namespace` is "tenant/namespace". */
  topicsOf(namespace: string): readonly string[] {
    const names = new Set(this.#topics.names());
    for (const [topic, count] of this.#store.partitionCounts())
      for (let index = 0; index < count; index++) names.add(`${topic}-partition-${index}`);
    return [...names].filter((name) => parseTopicName(name).namespace === namespace);
  }

  /**
   * Removes a topic with all its entries and subscriptions, and all partitions of it. Refused while
   * it is used, unless by force.
   */
  async deleteTopic(topic: string, options: { readonly force?: boolean } = {}): Promise<void> {
    const name = parseTopicName(topic);
    const count = this.partitionsOf(topic);
    if (count === 0) {
      await this.#topics.delete(name, options);
      // A partition shares the schema of its topic.
      if (name.partition === undefined) await this.schemas.delete(topic);
      return;
    }
    for (let index = 0; index < count; index++) {
      const partition = parseTopicName(`${name.full}-partition-${index}`);
      if (this.#topics.has(partition)) await this.#topics.delete(partition, options);
    }
    await orRefusal(this.#store.removePartitionCount(name.full));
    await this.schemas.delete(topic);
  }

  /** Of the topics that are open. */
  stats(): readonly TopicStats[] {
    return this.#topics.stats();
  }

  /** Closes producers and consumers, saves cursors, then closes the store. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#tidying;
    try {
      await this.#topics.close();
    } finally {
      await this.#store.close();
    }
  }

  /** A topic that can have producers and consumers of its own. */
  #usable(topic: string): TopicName {
    const name = parseTopicName(topic);
    if (this.partitionsOf(topic) > 0)
      throw new RefusalError("NotAllowedError", `${name.full} is partitioned; use its partitions`);
    const { partition } = name;
    const count = partition === undefined ? 0 : this.partitionsOf(partition.of);
    if (partition !== undefined && count > 0 && partition.index >= count)
      throw new RefusalError("TopicNotFound", `${partition.of} has ${count} partitions only`);
    return name;
  }

  async #tidyNowAndThen(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#timer.sleep(this.#settings.tidyMs, signal);
      } catch {
        return;
      }
      await this.#topics.tidy();
    }
  }
}
