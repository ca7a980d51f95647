import type { Clock, Random, Timer } from "@sluice/core";
import type { ByteBudget } from "../memory/byte-budget.ts";
import type { BrokerObserver } from "../observe/broker-event.ts";
import type { TopicPolicies } from "../policy/topic-policy.ts";
import type { StoredEntry } from "../storage/log/topic-log.ts";
import type { Position } from "../storage/position.ts";
import { SchemaRegistry } from "../schema/schema-registry.ts";
import type { BrokerStore } from "../storage/store/broker-store.ts";
import type {
  ConsumerHandle,
  ConsumerRequest,
  SeekPoint,
} from "../topic/consumer/consumer-handle.ts";
import { DeliveryTurns } from "../topic/subscription/delivery-turns.ts";
import { NameMaker } from "../topic/producer/name-maker.ts";
import { PersistentTopic } from "../topic/persistent-topic.ts";
import type { ProducerHandle, ProducerRequest } from "../topic/producer/producer-handle.ts";
import { ReadAheadMemory } from "../topic/subscription/read-ahead-memory.ts";
import { orRefusal } from "../topic/refusal.ts";
import { parseTopicName } from "../name/topic-name.ts";
import type { TopicName } from "../name/topic-name.ts";
import { inTurns, Listing } from "../topic/stats-steps.ts";
import type { TopicStats } from "../topic/topic-stats.ts";
import type { TopicSurroundings } from "../topic/topic.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { resolveSettings } from "../topic/settings.ts";
import type { BrokerSettings, ResolvedSettings } from "../topic/settings.ts";
import type { BrokerAdministration } from "./administration.ts";
import { exists, PartitionedTopics, wholeTopic } from "./partitioned-topics.ts";
import type { TopicDomain } from "./topic-index.ts";
import { Topics, notFound } from "./topics.ts";

export interface BrokerDependencies {
  readonly store: BrokerStore;
  readonly timer: Timer;
  /** For publish times and retention. */
  readonly wallClock: Clock;
  readonly random: Random;
  /** Resolves in the next turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
  /** Told what an operator should know; nothing if absent. */
  readonly observe?: BrokerObserver | undefined;
  /** The bytes that the process holds; without it read-ahead is bounded per subscription only. */
  readonly memory?: ByteBudget | undefined;
  /** Message TTL and backlog quota of each topic; none if absent. */
  readonly policies?: TopicPolicies | undefined;
}

/** Milliseconds that all subscriptions may deliver before clients are heard again. */
const DELIVERY_TURN_MS = 4;

const NO_POLICIES: TopicPolicies = {
  of: () => ({ messageTtlMs: undefined, backlogQuota: undefined }),
};

/**
 * All topics of one process. Whatever is refused rejects with a `RefusalError`, which says what to
 * tell the client. A topic whose storage fails stops; the others go on.
 */
export class Broker implements BrokerAdministration {
  readonly schemas: SchemaRegistry;
  readonly #store: BrokerStore;
  readonly #timer: Timer;
  readonly #nextTurn: () => Promise<void>;
  readonly #wallClock: Clock;
  readonly #settings: ResolvedSettings;
  readonly #topics: Topics;
  readonly #partitioned: PartitionedTopics;
  readonly #closing = new AbortController();
  readonly #repeating: Promise<unknown>;
  #closed: Promise<void> | undefined;

  /** The store is the broker's from now on. */
  constructor(dependencies: BrokerDependencies, settings: BrokerSettings = {}) {
    const { store, timer, wallClock, random, nextTurn } = dependencies;
    const { observe = () => undefined, policies = NO_POLICIES } = dependencies;
    this.#store = store;
    this.schemas = new SchemaRegistry(store.schemas);
    this.#timer = timer;
    this.#nextTurn = nextTurn;
    this.#wallClock = wallClock;
    this.#settings = resolveSettings(settings);
    const names = new NameMaker(random);
    const surroundings: TopicSurroundings = {
      timer,
      wallClock,
      nextTurn,
      deliveryTurns: new DeliveryTurns(timer, nextTurn, { turnMs: DELIVERY_TURN_MS }),
      names,
      observe,
      policies,
      readAhead: new ReadAheadMemory(dependencies.memory),
      subscriptions: { count: 0 },
      settings: this.#settings,
    };
    this.#topics = new Topics(store, surroundings);
    this.#partitioned = new PartitionedTopics(this.#topics, {
      store,
      schemas: this.schemas,
      limits: this.#settings.limits,
    });
    this.#repeating = Promise.all([
      this.#repeat(this.#settings.tidyMs, () => this.#topics.tidy()),
      this.#repeat(this.#settings.quotaCheckMs, () => this.#topics.check()),
    ]);
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

  /** Partitions of a topic; 0 if it is not partitioned, or not there. */
  partitionsOf(topic: string): number {
    const name = parseTopicName(topic);
    return name.partition === undefined ? this.#topics.index.partitionsOf(name) : 0;
  }

  /** Whether a topic exists, partitioned or not. */
  hasTopic(topic: string): boolean {
    return this.partitionsOf(topic) > 0 || this.#topics.index.lists(parseTopicName(topic));
  }

  topicsOf(namespace: string, domain?: TopicDomain): readonly string[] {
    return this.#topics.index.topicsOf(namespace, domain);
  }

  partitionedTopicsOf(namespace: string): ReadonlyMap<string, number> {
    return this.#topics.index.partitionedTopicsOf(namespace);
  }

  namespaces(): readonly string[] {
    return this.#topics.index.namespaces;
  }

  async createTopic(topic: string): Promise<void> {
    const name = this.#usable(topic);
    if (this.#topics.index.has(name)) throw exists(name);
    await this.#topics.open(name, { mayCreate: true, byAdministrator: true });
  }

  /** Resolves once it is durable. */
  async createPartitionedTopic(topic: string, count: number): Promise<void> {
    await this.#partitioned.create(wholeTopic(topic), count);
  }

  async growPartitions(topic: string, count: number): Promise<void> {
    await this.#partitioned.grow(wholeTopic(topic), count);
  }

  async deleteTopic(
    topic: string,
    { force = false }: { readonly force?: boolean } = {},
  ): Promise<void> {
    const name = parseTopicName(topic);
    if (this.partitionsOf(topic) > 0) {
      await this.#partitioned.delete(name, force);
      return;
    }
    if (!this.#topics.index.has(name)) throw notFound(name.full);
    const removeRest = async (): Promise<void> => {
      // A partition shares the schema of its topic.
      if (name.partition === undefined) await this.schemas.delete(topic);
    };
    await this.#topics.delete([name], { force, removeRest });
  }

  async unloadTopic(topic: string): Promise<void> {
    for (const name of this.#parts(topic)) await this.#topics.unload(name);
  }

  async terminateTopic(topic: string): Promise<Position | undefined> {
    const opened = await this.#persistent(topic);
    return opened.terminate();
  }

  async statsOf(topic: string, listedMax = 0): Promise<TopicStats> {
    const opened = await this.#topics.open(this.#usable(topic), { mayCreate: false });
    return inTurns(opened.stats(new Listing(listedMax)), this.#nextTurn);
  }

  async subscriptionsOf(topic: string): Promise<readonly string[]> {
    const names = new Set<string>();
    await this.#inParts(topic, ({ subscriptions }) => {
      for (const name of subscriptions.names) names.add(name);
    });
    return [...names].toSorted();
  }

  async createSubscription(topic: string, subscription: string, start: SeekPoint): Promise<void> {
    await this.#inParts(topic, ({ subscriptions }) => subscriptions.create(subscription, start));
  }

  async deleteSubscription(
    topic: string,
    subscription: string,
    options: { readonly force?: boolean } = {},
  ): Promise<void> {
    await this.#inParts(topic, ({ subscriptions }) => subscriptions.delete(subscription, options));
  }

  async skip(topic: string, subscription: string, entries: number | "all"): Promise<void> {
    if (entries !== "all") this.#usable(topic);
    await this.#inParts(topic, ({ subscriptions }) => subscriptions.skip(subscription, entries));
  }

  async resetSubscription(topic: string, subscription: string, to: SeekPoint): Promise<void> {
    if (to.kind === "at") this.#usable(topic);
    await this.#inParts(topic, ({ subscriptions }) => subscriptions.reset(subscription, to));
  }

  async expireMessages(topic: string, subscription: string, olderThanMs: number): Promise<void> {
    const beforeMs = this.#wallClock.now() - olderThanMs;
    await this.#inParts(topic, ({ subscriptions }) => subscriptions.expire(subscription, beforeMs));
  }

  async entryAt(topic: string, position: Position): Promise<StoredEntry | undefined> {
    return (await this.#persistent(topic)).entryAt(position);
  }

  async peek(topic: string, subscription: string, place: number): Promise<StoredEntry | undefined> {
    const { subscriptions } = await this.#persistent(topic);
    return orRefusal(subscriptions.peek(subscription, place));
  }

  async examine(
    topic: string,
    from: "earliest" | "latest",
    place: number,
  ): Promise<StoredEntry | undefined> {
    return (await this.#persistent(topic)).examine(from, place);
  }

  async lastEntry(topic: string): Promise<StoredEntry | undefined> {
    return (await this.#persistent(topic)).lastEntry();
  }

  async positionAtTime(topic: string, atMs: number): Promise<Position> {
    return (await this.#persistent(topic)).positionAtTime(atMs);
  }

  /** Of the topics that are open. */
  stats(): readonly TopicStats[] {
    return this.#topics.stats();
  }

  openTopicStats(listedMax = 0): Promise<readonly TopicStats[]> {
    return this.#topics.statsInTurns(listedMax);
  }

  /** Closes producers and consumers, saves cursors, then closes the store. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    this.#closing.abort();
    await this.#repeating;
    try {
      await this.#topics.close();
    } finally {
      await this.#store.close();
    }
  }

  /** Does something in a topic, or in each partition of one, one after the other. */
  async #inParts(
    topic: string,
    work: (part: PersistentTopic) => Promise<void> | void,
  ): Promise<void> {
    for (const name of this.#parts(topic)) await work(await this.#persistent(name.full));
  }

  /** The topic itself, or its partitions. */
  #parts(topic: string): readonly TopicName[] {
    const name = parseTopicName(topic);
    const partitions = this.#partitioned.partitionsOf(name);
    if (partitions.length > 0) return partitions;
    if (this.#topics.index.lists(name)) return [name];
    throw notFound(name.full);
  }

  async #persistent(topic: string): Promise<PersistentTopic> {
    const name = this.#usable(topic);
    const opened = await this.#topics.open(name, { mayCreate: false });
    if (opened instanceof PersistentTopic) return opened;
    throw new RefusalError("NotAllowedError", `topic ${name.full} is not persistent`);
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

  async #repeat(everyMs: number, work: () => Promise<void>): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      try {
        await this.#timer.sleep(everyMs, signal);
      } catch {
        return;
      }
      await work();
    }
  }
}
