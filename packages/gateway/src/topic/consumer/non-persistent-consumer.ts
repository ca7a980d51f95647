import { RefusalError } from "../../refusal/refusal-error.ts";
import type { Consumer } from "../../subscription/consumer.ts";
import type { ConsumerHandle } from "./consumer-handle.ts";
import type { NonPersistentSubscription } from "../subscription/non-persistent-subscription.ts";
import type { ConsumerStats } from "../topic-stats.ts";

/** One consumer of a topic that stores nothing: nothing can be acknowledged or delivered again. */
export class NonPersistentConsumer implements ConsumerHandle {
  readonly #subscription: NonPersistentSubscription;
  readonly #consumer: Consumer;
  readonly #leave: () => void;

  constructor(subscription: NonPersistentSubscription, consumer: Consumer, leave: () => void) {
    this.#subscription = subscription;
    this.#consumer = consumer;
    this.#leave = leave;
  }

  get name(): string {
    return this.#consumer.name;
  }

  get isActive(): boolean {
    return this.#subscription.isActive(this.#consumer);
  }

  flow(permits: number): void {
    this.#consumer.addPermits(permits);
  }

  withdraw(permitsMost: number): number {
    return this.#consumer.withdrawPermits(permitsMost);
  }

  pause(): void {
    this.#consumer.pause();
  }

  resume(): void {
    this.#consumer.resume();
  }

  acknowledge(): void {
    // Clients do it all the same.
  }

  acknowledgeUpTo(): void {
    // Clients do it all the same.
  }

  redeliver(): void {
    // What was delivered is not kept.
  }

  redeliverAll(): void {
    // What was delivered is not kept.
  }

  seek(): Promise<void> {
    const why = "a non-persistent topic has no entries to go to";
    return Promise.reject(new RefusalError("NotAllowedError", why));
  }

  lastEntry(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  markDeletePosition(): undefined {
    return undefined;
  }

  get backlogEntries(): number {
    return 0;
  }

  stats(): ConsumerStats | undefined {
    return this.#subscription.consumerStats(this.#consumer);
  }

  unsubscribe(): Promise<void> {
    const hasOthers = this.#subscription.has(this.#consumer) && this.#subscription.size > 1;
    if (hasOthers)
      return Promise.reject(
        new RefusalError("MetadataError", "the subscription has other consumers"),
      );
    this.#leave();
    return Promise.resolve();
  }

  close(): void {
    this.#leave();
  }
}
