import { RefusalError } from "../../refusal/refusal-error.ts";
import type { Consumer } from "../../subscription/consumer.ts";
import type { Delivery } from "../../subscription/delivery.ts";
import { RoundRobin } from "../../subscription/dispatch/round-robin.ts";
import { chosen } from "../../subscription/dispatch/single-active-dispatcher.ts";
import type { SubscriptionType } from "../../subscription/subscription.ts";
import { ConnectedConsumer } from "../consumer/connected-consumer.ts";
import type { ConsumerListener } from "../consumer/connected-consumer.ts";
import type { Listing } from "../stats-steps.ts";
import type { ConsumerStats, SubscriptionStats } from "../topic-stats.ts";
import { Traffic } from "../traffic.ts";

export interface NonPersistentSubscriptionOptions {
  readonly consumersMax: number;
  readonly partition: number | undefined;
  readonly wallNow: () => number;
}

/**
 * A subscription of a topic that stores nothing: an entry goes to a consumer that has permits now,
 * or to nobody.
 */
export class NonPersistentSubscription {
  readonly #options: NonPersistentSubscriptionOptions;
  readonly #turns = new RoundRobin();
  readonly #connected = new Map<Consumer, ConnectedConsumer>();
  readonly #out: Traffic;
  #type: SubscriptionType;
  #active: Consumer | undefined;
  #pending = new Map<Consumer, Delivery[]>();

  constructor(type: SubscriptionType, options: NonPersistentSubscriptionOptions) {
    this.#type = type;
    this.#options = options;
    this.#out = new Traffic(options.wallNow());
  }

  get type(): SubscriptionType {
    return this.#type;
  }

  get size(): number {
    return this.#connected.size;
  }

  has(consumer: Consumer): boolean {
    return this.#connected.has(consumer);
  }

  isActive(consumer: Consumer): boolean {
    return this.#type === "shared" || consumer === this.#active;
  }

  /** Throws a `RefusalError` if there is no room. */
  join(consumer: Consumer, type: SubscriptionType, listener: ConsumerListener): void {
    if (this.size === 0) this.#type = type;
    const isTaken = type === "exclusive" && this.size > 0;
    if (isTaken) for (const { listener: other } of this.#connected.values()) other.onContested?.();
    if (type !== this.#type || isTaken || this.size >= this.#options.consumersMax)
      throw new RefusalError("ConsumerBusy", `the ${this.#type} subscription has a consumer`);
    this.#turns.add(consumer);
    this.#choose();
    // After the others have been told: its handle says how it is.
    const connected = new ConnectedConsumer(consumer, listener, {
      nowMs: this.#options.wallNow(),
      all: this.#out,
    });
    this.#connected.set(consumer, connected);
  }

  leave(consumer: Consumer): void {
    if (!this.#connected.delete(consumer)) return;
    this.#turns.remove(consumer);
    this.#choose();
  }

  closeAll(why: RefusalError): void {
    const all = [...this.#connected.values()];
    this.#connected.clear();
    for (const { consumer } of all) this.#turns.remove(consumer);
    for (const { listener } of all) listener.onClosed(why);
  }

  /** Answers whether somebody gets it, at the next `flush`. */
  offer(delivery: Delivery): boolean {
    const consumer = this.#type === "shared" ? this.#turns.next() : this.#active;
    if (consumer?.canTake !== true) return false;
    consumer.take(delivery.messageCount);
    const pending = this.#pending.get(consumer);
    if (pending === undefined) this.#pending.set(consumer, [delivery]);
    else pending.push(delivery);
    return true;
  }

  flush(): void {
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [consumer, deliveries] of pending)
      this.#connected.get(consumer)?.deliver(deliveries);
  }

  sample(nowMs: number): void {
    this.#out.sample(nowMs);
    for (const { out } of this.#connected.values()) out.sample(nowMs);
  }

  consumerStats(consumer: Consumer): ConsumerStats | undefined {
    return this.#connected.get(consumer)?.stats(this.isActive(consumer));
  }

  stats(name: string, listing: Listing): SubscriptionStats {
    const { consumers } = this.#turns;
    const listed = consumers.slice(0, listing.take(consumers.length));
    return {
      name,
      type: this.#type,
      isDurable: false,
      consumers: listed.flatMap((consumer) => this.consumerStats(consumer) ?? []),
      consumerCount: consumers.length,
      isBlocked: false,
      unackedMessages: 0,
      backlogEntries: 0,
      backlogBytes: 0,
      delayedEntries: 0,
      activeConsumer: this.#type === "shared" ? undefined : this.#active?.name,
      out: this.#out.stats,
    };
  }

  #choose(): void {
    const was = this.#active;
    this.#active = chosen(this.#turns.consumers, this.#options.partition);
    if (this.#active === was || this.#type === "shared") return;
    if (was !== undefined) this.#connected.get(was)?.listener.onActiveChange(false);
    if (this.#active !== undefined)
      this.#connected.get(this.#active)?.listener.onActiveChange(true);
  }
}
