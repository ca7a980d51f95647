import type { Consumer } from "../../subscription/consumer.ts";
import type { Delivery } from "../../subscription/delivery.ts";
import type { ConsumerRequest } from "./consumer-handle.ts";
import type { ConsumerStats } from "../topic-stats.ts";
import { Traffic } from "../traffic.ts";

/** What a consumer hears, and what its client said of itself. */
export type ConsumerListener = Pick<
  ConsumerRequest,
  "deliver" | "onActiveChange" | "onClosed" | "onReachedEnd" | "onContested" | "client"
>;

interface ConnectedOptions {
  readonly nowMs: number;
  readonly all: Traffic;
}

/** One consumer of a subscription with its listener and its figures. */
export class ConnectedConsumer {
  readonly consumer: Consumer;
  readonly listener: ConsumerListener;
  readonly out: Traffic;
  readonly #all: Traffic;
  readonly #connectedAtMs: number;
  #entries = 0;
  #redeliveredMessages = 0;
  #isBlocked = false;
  #hasReachedEnd = false;

  /** `all`: what the consumers of the subscription get together. */
  constructor(consumer: Consumer, listener: ConsumerListener, { nowMs, all }: ConnectedOptions) {
    this.#all = all;
    this.consumer = consumer;
    this.listener = listener;
    this.#connectedAtMs = nowMs;
    this.out = new Traffic(nowMs);
  }

  deliver(deliveries: readonly Delivery[]): void {
    let messages = 0;
    let bytes = 0;
    for (const delivery of deliveries) {
      messages += delivery.messageCount;
      bytes += delivery.bytes.length;
      if (delivery.redeliveryCount > 0) this.#redeliveredMessages += delivery.messageCount;
    }
    this.out.add(messages, bytes);
    this.#all.add(messages, bytes);
    this.#entries += deliveries.length;
    this.listener.deliver(deliveries);
  }

  /**
   * Answers true once when the consumer reaches its limit of unacknowledged messages. The next
   * episode begins after it was down to half of the limit.
   */
  hasJustBlocked(): boolean {
    const { unacked, unackedMax } = this.consumer;
    if (this.#isBlocked) {
      this.#isBlocked = unacked > unackedMax / 2;
      return false;
    }
    this.#isBlocked = unacked >= unackedMax;
    return this.#isBlocked;
  }

  /** All entries of a terminated topic are acknowledged. Told once. */
  reachEnd(): void {
    if (this.#hasReachedEnd) return;
    this.#hasReachedEnd = true;
    this.listener.onReachedEnd?.();
  }

  stats(isActive: boolean): ConsumerStats {
    const { name, permits, unacked, unackedMax } = this.consumer;
    const out = this.out.stats;
    return {
      name,
      isActive,
      availablePermits: permits,
      unackedMessages: unacked,
      isBlocked: unacked >= unackedMax,
      avgMessagesPerEntry: this.#entries === 0 ? 0 : Math.round(out.messages / this.#entries),
      connectedAtMs: this.#connectedAtMs,
      client: this.listener.client,
      out,
      redeliveredMessages: this.#redeliveredMessages,
    };
  }
}
