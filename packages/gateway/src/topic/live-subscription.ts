import { RefusalError } from "../refusal/refusal-error.ts";
import type { Consumer } from "../subscription/consumer.ts";
import type { Delivery } from "../subscription/delivery.ts";
import { RoundRobin } from "../subscription/round-robin.ts";
import { chosen } from "../subscription/single-active-dispatcher.ts";
import type { SubscriptionType } from "../subscription/subscription.ts";
import type { ConsumerListener } from "./feed.ts";

export interface LiveSubscriptionOptions {
  readonly consumersMax: number;
  readonly partition: number | undefined;
}

/**
 * A subscription of a topic that stores nothing: an entry goes to a consumer that has permits now,
 * or to nobody.
 */
export class LiveSubscription {
  readonly #options: LiveSubscriptionOptions;
  readonly #turns = new RoundRobin();
  readonly #listeners = new Map<Consumer, ConsumerListener>();
  #type: SubscriptionType;
  #active: Consumer | undefined;
  #pending = new Map<Consumer, Delivery[]>();

  constructor(type: SubscriptionType, options: LiveSubscriptionOptions) {
    this.#type = type;
    this.#options = options;
  }

  get type(): SubscriptionType {
    return this.#type;
  }

  get size(): number {
    return this.#listeners.size;
  }

  has(consumer: Consumer): boolean {
    return this.#listeners.has(consumer);
  }

  isActive(consumer: Consumer): boolean {
    return this.#type === "shared" || consumer === this.#active;
  }

  /** Throws a `RefusalError` if there is no room. */
  join(consumer: Consumer, type: SubscriptionType, listener: ConsumerListener): void {
    if (this.size === 0) this.#type = type;
    const isTaken = type === "exclusive" && this.size > 0;
    if (type !== this.#type || isTaken || this.size >= this.#options.consumersMax)
      throw new RefusalError("ConsumerBusy", `the ${this.#type} subscription has a consumer`);
    this.#turns.add(consumer);
    this.#choose();
    // After the others have been told: its handle says how it is.
    this.#listeners.set(consumer, listener);
  }

  leave(consumer: Consumer): void {
    if (!this.#listeners.delete(consumer)) return;
    this.#turns.remove(consumer);
    this.#choose();
  }

  closeAll(why: RefusalError): void {
    const all = [...this.#listeners];
    this.#listeners.clear();
    for (const [consumer] of all) this.#turns.remove(consumer);
    for (const [, listener] of all) listener.onClosed(why);
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
      this.#listeners.get(consumer)?.deliver(deliveries);
  }

  #choose(): void {
    const was = this.#active;
    this.#active = chosen(this.#turns.consumers, this.#options.partition);
    if (this.#active === was || this.#type === "shared") return;
    if (was !== undefined) this.#listeners.get(was)?.onActiveChange(false);
    if (this.#active !== undefined) this.#listeners.get(this.#active)?.onActiveChange(true);
  }
}
