import type { Position } from "../storage/position.ts";
import type { StoredEntry } from "../storage/log/topic-log.ts";
import type { Consumer } from "../subscription/consumer.ts";
import type { Ack } from "../subscription/delivery.ts";
import type { ConsumerHandle, SeekPoint } from "./consumer-handle.ts";
import type { Feed } from "./feed.ts";

/** What a consumer may ask of its topic. */
export interface SubscriberTopic {
  seek(feed: Feed, to: SeekPoint): Promise<void>;
  unsubscribe(feed: Feed, consumer: Consumer): Promise<void>;
  leave(feed: Feed, consumer: Consumer): void;
  lastEntry(): Promise<StoredEntry | undefined>;
  markDeletePosition(feed: Feed): Position | undefined;
}

/** One consumer of a persistent topic. */
export class Subscriber implements ConsumerHandle {
  readonly #topic: SubscriberTopic;
  readonly #feed: Feed;
  readonly #consumer: Consumer;

  constructor(topic: SubscriberTopic, feed: Feed, consumer: Consumer) {
    this.#topic = topic;
    this.#feed = feed;
    this.#consumer = consumer;
  }

  get name(): string {
    return this.#consumer.name;
  }

  get isActive(): boolean {
    return this.#feed.subscription.isActive(this.#consumer);
  }

  flow(permits: number): void {
    this.#consumer.addPermits(permits);
    if (this.#isOpen) this.#feed.wake();
  }

  pause(): void {
    this.#consumer.pause();
  }

  resume(): void {
    this.#consumer.resume();
    if (this.#isOpen) this.#feed.wake();
  }

  acknowledge(acks: readonly Ack[]): void {
    if (this.#isOpen) this.#feed.acknowledge(acks);
  }

  acknowledgeUpTo(ack: Ack): void {
    if (this.#isOpen) this.#feed.acknowledgeUpTo(ack);
  }

  redeliver(positions: readonly Position[]): void {
    if (!this.#isOpen) return;
    this.#feed.subscription.redeliver(this.#consumer, positions);
    this.#feed.wake();
  }

  redeliverAll(): void {
    if (!this.#isOpen) return;
    this.#feed.subscription.redeliver(this.#consumer);
    this.#feed.wake();
  }

  async seek(to: SeekPoint): Promise<void> {
    if (this.#isOpen) await this.#topic.seek(this.#feed, to);
  }

  lastEntry(): Promise<StoredEntry | undefined> {
    return this.#topic.lastEntry();
  }

  markDeletePosition(): Position | undefined {
    return this.#topic.markDeletePosition(this.#feed);
  }

  async unsubscribe(): Promise<void> {
    if (this.#isOpen) await this.#topic.unsubscribe(this.#feed, this.#consumer);
  }

  close(): void {
    this.#topic.leave(this.#feed, this.#consumer);
  }

  get #isOpen(): boolean {
    return this.#feed.has(this.#consumer);
  }
}
