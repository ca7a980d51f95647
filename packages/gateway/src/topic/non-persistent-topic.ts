import { RefusalError } from "../refusal/refusal-error.ts";
import type { Position } from "../storage/position.ts";
import { settled } from "../storage/file/settled.ts";
import { Consumer } from "../subscription/consumer.ts";
import type { Delivery } from "../subscription/delivery.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer/consumer-handle.ts";
import { NonPersistentConsumer } from "./consumer/non-persistent-consumer.ts";
import { NonPersistentSubscription } from "./subscription/non-persistent-subscription.ts";
import type { Producer } from "./producer/producer.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer/producer-handle.ts";
import { TopicProducers } from "./producer/topic-producers.ts";
import type { TopicName } from "../name/topic-name.ts";
import { requireClientName } from "../name/topic-name.ts";
import type { Listing, Steps } from "./stats-steps.ts";
import type { SubscriptionStats, TopicStats } from "./topic-stats.ts";
import type { Topic, TopicSurroundings } from "./topic.ts";
import { Traffic, sumOf } from "./traffic.ts";

/**
 * A topic that stores nothing. Each subscription passes an entry on at once or drops it; its producer
 * has its receipt either way.
 */
export class NonPersistentTopic implements Topic {
  readonly #name: TopicName;
  readonly #surroundings: TopicSurroundings;
  readonly #producers: TopicProducers;
  readonly #in: Traffic;
  readonly #openedAtMs: number;
  #publishedAtMs: number | undefined;
  readonly #subscriptions = new Map<string, NonPersistentSubscription>();
  #entryCount = 0;
  #droppedMessages = 0;
  #isFlushing = false;
  #ended: RefusalError | undefined;

  constructor(name: TopicName, surroundings: TopicSurroundings) {
    this.#name = name;
    this.#surroundings = surroundings;
    this.#openedAtMs = surroundings.wallClock.now();
    this.#in = new Traffic(this.#openedAtMs);
    this.#producers = new TopicProducers(surroundings.names, {
      wallClock: surroundings.wallClock,
      topicEpoch: 0n,
      saveTopicEpoch: () => Promise.resolve(),
      publish: (producer, publication) => settled(() => this.#publish(producer, publication)),
      onOpened: () => -1n,
      producersMax: surroundings.settings.limits.producersPerTopicMax,
    });
  }

  readonly stopped = undefined;

  get isUsed(): boolean {
    return this.#producers.size > 0 || this.#subscriptions.size > 0;
  }

  async openProducer(request: ProducerRequest): Promise<ProducerHandle> {
    if (this.#ended !== undefined) throw this.#ended;
    return this.#producers.open(request);
  }

  subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    return settled(() => this.#subscribe(request));
  }

  tidy(): Promise<void> {
    const nowMs = this.#surroundings.wallClock.now();
    this.#in.sample(nowMs);
    this.#producers.sample(nowMs);
    for (const subscription of this.#subscriptions.values()) subscription.sample(nowMs);
    return Promise.resolve();
  }

  check(): Promise<void> {
    // There is no backlog.
    return Promise.resolve();
  }

  *stats(listing: Listing): Steps<TopicStats> {
    const producers = yield* this.#producers.stats(listing);
    const subscriptions: SubscriptionStats[] = [];
    for (const [name, subscription] of this.#subscriptions) {
      subscriptions.push(subscription.stats(name, listing));
      yield* listing.passed(subscription.size);
    }
    return {
      name: this.#name.full,
      producers,
      producerCount: this.#producers.size,
      subscriptions,
      sizeBytes: 0,
      in: this.#in.stats,
      out: sumOf(subscriptions.map(({ out }) => out)),
      openedAtMs: this.#openedAtMs,
      publishedAtMs: this.#publishedAtMs,
      droppedMessages: this.#droppedMessages,
      isTerminated: false,
      isDeduplicated: false,
      blocked: undefined,
      failure: undefined,
    };
  }

  close(why: RefusalError): Promise<void> {
    this.#ended ??= why;
    this.#producers.endAll(why);
    for (const subscription of this.#subscriptions.values()) subscription.closeAll(why);
    this.#subscriptions.clear();
    return Promise.resolve();
  }

  #subscribe(request: ConsumerRequest): ConsumerHandle {
    if (this.#ended !== undefined) throw this.#ended;
    const { type, subscription: name, priorityLevel } = request;
    if (type === "key-shared")
      throw new RefusalError(
        "NotAllowedError",
        "a non-persistent topic has no Key_Shared subscriptions",
      );
    requireClientName("NotAllowedError", "a subscription's name", name);
    const { names, settings, wallClock } = this.#surroundings;
    const wallNow = (): number => wallClock.now();
    const { subscriptionsPerTopicMax, consumersPerSubscriptionMax: consumersMax } = settings.limits;
    const known = this.#subscriptions.get(name);
    if (known === undefined && this.#subscriptions.size >= subscriptionsPerTopicMax)
      throw new RefusalError("NotAllowedError", "the topic has too many subscriptions");
    const partition = this.#name.partition?.index;
    const subscription =
      known ?? new NonPersistentSubscription(type, { consumersMax, partition, wallNow });
    const consumer = new Consumer({
      name: request.consumerName ?? names.next(),
      priorityLevel,
      unackedMax: Infinity,
    });
    subscription.join(consumer, type, request);
    this.#subscriptions.set(name, subscription);
    return new NonPersistentConsumer(subscription, consumer, () => this.#leave(name, consumer));
  }

  #publish(producer: Producer, { parts, messageCount }: Publication): Position {
    const bytes = parts.reduce((sum, part) => sum + part.length, 0);
    this.#in.add(messageCount, bytes);
    producer.in.add(messageCount, bytes);
    this.#publishedAtMs = Math.floor(this.#surroundings.wallClock.now());
    const position = { ledgerId: 0, entryId: this.#entryCount++ };
    if (this.#subscriptions.size === 0) return position;
    const delivery: Delivery = {
      position,
      // The producer's bytes may change once it has its receipt.
      bytes: Buffer.concat(parts),
      messageCount,
      publishedAtMs: this.#publishedAtMs,
      redeliveryCount: 0,
      ackSet: undefined,
    };
    for (const subscription of this.#subscriptions.values())
      if (!subscription.offer(delivery)) this.#droppedMessages += messageCount;
    if (!this.#isFlushing) void this.#flush();
    return position;
  }

  /** In a turn of its own: whoever publishes may also be the one who consumes. */
  async #flush(): Promise<void> {
    this.#isFlushing = true;
    await Promise.resolve();
    this.#isFlushing = false;
    for (const subscription of this.#subscriptions.values()) subscription.flush();
  }

  #leave(name: string, consumer: Consumer): void {
    const subscription = this.#subscriptions.get(name);
    if (subscription?.has(consumer) !== true) return;
    subscription.leave(consumer);
    if (subscription.size === 0) this.#subscriptions.delete(name);
  }
}
