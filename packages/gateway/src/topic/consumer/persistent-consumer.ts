import type { Position } from "../../storage/position.ts";
import type { StoredEntry } from "../../storage/log/topic-log.ts";
import type { Consumer } from "../../subscription/consumer.ts";
import type { Ack } from "../../subscription/delivery.ts";
import type { ConsumerHandle, SeekPoint } from "./consumer-handle.ts";
import type { PersistentSubscription } from "../subscription/persistent-subscription.ts";
import type { ConsumerStats } from "../topic-stats.ts";

/** What a consumer may ask of its topic. */
export interface ConsumerTopic {
  seek(subscription: PersistentSubscription, to: SeekPoint): Promise<void>;
  unsubscribe(subscription: PersistentSubscription, consumer: Consumer): Promise<void>;
  leave(subscription: PersistentSubscription, consumer: Consumer): void;
  lastEntry(): Promise<StoredEntry | undefined>;
  markDeletePosition(subscription: PersistentSubscription): Position | undefined;
}

/** One consumer of a persistent topic. */
export class PersistentConsumer implements ConsumerHandle {
  readonly #topic: ConsumerTopic;
  readonly #subscription: PersistentSubscription;
  readonly #consumer: Consumer;

  constructor(topic: ConsumerTopic, subscription: PersistentSubscription, consumer: Consumer) {
    this.#topic = topic;
    this.#subscription = subscription;
    this.#consumer = consumer;
  }

  get name(): string {
    return this.#consumer.name;
  }

  get isActive(): boolean {
    return this.#subscription.state.isActive(this.#consumer);
  }

  flow(permits: number): void {
    this.#consumer.addPermits(permits);
    if (this.#isOpen) this.#subscription.wake();
  }

  withdraw(permitsMost: number): number {
    return this.#consumer.withdrawPermits(permitsMost);
  }

  pause(): void {
    this.#consumer.pause();
  }

  resume(): void {
    this.#consumer.resume();
    if (this.#isOpen) this.#subscription.wake();
  }

  acknowledge(acks: readonly Ack[]): void {
    if (this.#isOpen) this.#subscription.acknowledge(acks);
  }

  acknowledgeUpTo(ack: Ack): void {
    if (this.#isOpen) this.#subscription.acknowledgeUpTo(ack);
  }

  redeliver(positions: readonly Position[]): void {
    if (!this.#isOpen) return;
    this.#subscription.state.redeliver(this.#consumer, positions);
    this.#subscription.wake();
  }

  redeliverAll(): void {
    if (!this.#isOpen) return;
    this.#subscription.state.redeliver(this.#consumer);
    this.#subscription.wake();
  }

  async seek(to: SeekPoint): Promise<void> {
    if (this.#isOpen) await this.#topic.seek(this.#subscription, to);
  }

  lastEntry(): Promise<StoredEntry | undefined> {
    return this.#topic.lastEntry();
  }

  markDeletePosition(): Position | undefined {
    return this.#topic.markDeletePosition(this.#subscription);
  }

  get backlogEntries(): number {
    return this.#subscription.backlogEntries;
  }

  stats(): ConsumerStats | undefined {
    return this.#subscription.consumerStats(this.#consumer);
  }

  async unsubscribe(): Promise<void> {
    if (this.#isOpen) await this.#topic.unsubscribe(this.#subscription, this.#consumer);
  }

  close(): void {
    this.#topic.leave(this.#subscription, this.#consumer);
  }

  get #isOpen(): boolean {
    return this.#subscription.has(this.#consumer);
  }
}
