import { RefusalError } from "../refusal/refusal-error.ts";
import type { Position } from "../storage/position.ts";
import { settled } from "../storage/file/settled.ts";
import { Consumer } from "../subscription/consumer.ts";
import type { Delivery } from "../subscription/delivery.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer-handle.ts";
import { LiveSubscriber } from "./live-subscriber.ts";
import { LiveSubscription } from "./live-subscription.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer-handle.ts";
import { Producers } from "./producers.ts";
import type { TopicName } from "./topic-name.ts";
import { requireName } from "./topic-name.ts";
import type { Topic, TopicStats, TopicSurroundings } from "./topic.ts";

/**
 * A topic that stores nothing. Each subscription passes an entry on at once or drops it; its producer
 * has its receipt either way.
 */
export class NonPersistentTopic implements Topic {
  readonly #name: TopicName;
  readonly #surroundings: TopicSurroundings;
  readonly #producers: Producers;
  readonly #subscriptions = new Map<string, LiveSubscription>();
  #entryCount = 0;
  #droppedMessages = 0;
  #isFlushing = false;
  #ended: RefusalError | undefined;

  constructor(name: TopicName, surroundings: TopicSurroundings) {
    this.#name = name;
    this.#surroundings = surroundings;
    this.#producers = new Producers(surroundings.names, {
      topicEpoch: 0n,
      saveTopicEpoch: () => Promise.resolve(),
      publish: (publication) => settled(() => this.#publish(publication)),
      producersMax: surroundings.settings.limits.producersPerTopicMax,
    });
  }

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

  async tidy(): Promise<void> {
    // Nothing is kept.
  }

  stats(): TopicStats {
    return {
      name: this.#name.full,
      producers: this.#producers.size,
      sizeBytes: 0,
      droppedMessages: this.#droppedMessages,
      failure: undefined,
      subscriptions: [...this.#subscriptions].map(([name, { type, size }]) => ({
        name,
        type,
        isDurable: false,
        consumers: size,
        unackedMessages: 0,
        backlogEntries: 0,
      })),
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
      throw new RefusalError("NotAllowedError", "Key_Shared subscriptions are not supported");
    requireName("NotAllowedError", "a subscription's name", name);
    const { names, settings } = this.#surroundings;
    const { subscriptionsPerTopicMax, consumersPerSubscriptionMax: consumersMax } = settings.limits;
    const known = this.#subscriptions.get(name);
    if (known === undefined && this.#subscriptions.size >= subscriptionsPerTopicMax)
      throw new RefusalError("NotAllowedError", "the topic has too many subscriptions");
    const partition = this.#name.partition?.index;
    const subscription = known ?? new LiveSubscription(type, { consumersMax, partition });
    const consumer = new Consumer({
      name: request.consumerName ?? names.next(),
      priorityLevel,
      unackedMax: Infinity,
    });
    subscription.join(consumer, type, request);
    this.#subscriptions.set(name, subscription);
    return new LiveSubscriber(subscription, consumer, () => this.#leave(name, consumer));
  }

  #publish({ parts, messageCount }: Publication): Position {
    const position = { ledgerId: 0, entryId: this.#entryCount++ };
    if (this.#subscriptions.size === 0) return position;
    const delivery: Delivery = {
      position,
      // The producer's bytes may change once it has its receipt.
      bytes: Buffer.concat(parts),
      messageCount,
      publishedAtMs: Math.floor(this.#surroundings.wallClock.now()),
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
