import type { DispatchConsumer } from "../ingress/dispatch/dispatch-consumer.ts";
import type { Dispatch } from "../ingress/dispatch/dispatch.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import type { Refusal } from "../refusal/refusal.ts";
import type { DeliveryAdmission, SubscribingConsumer } from "../relay/relay-context.ts";

/** Asks the dispatch limits of the process for the consumers of one relay. */
export class DispatchAdmission implements DeliveryAdmission {
  readonly #dispatch: Dispatch;
  readonly #host: string;
  readonly #permit: (consumer: number, permits: number) => void;
  /** Made with the first limited consumer. */
  #consumers: Map<number, DispatchConsumer> | undefined;

  /** `permit` hands permits to the relay, after the event that it is busy with. */
  constructor(
    dispatch: Dispatch,
    address: string,
    permit: (consumer: number, permits: number) => void,
  ) {
    this.#dispatch = dispatch;
    this.#host = address.slice(0, address.lastIndexOf(":"));
    this.#permit = permit;
  }

  subscribe(consumer: SubscribingConsumer, nowMs: number): Refusal | "limited" | "unlimited" {
    const { key, id: consumerId, name: consumerName, topic, subscription } = consumer;
    const { limits, subscribeRates } = this.#dispatch;
    try {
      const subscriber = { topic, host: this.#host, consumerName, consumerId };
      const message = subscribeRates.refuses(subscriber, nowMs);
      if (message !== undefined) return { error: "TooManyRequests", message };
      if (!limits.isSet) return "unlimited";
      const pass = (permits: number): void => this.#permit(key, permits);
      this.#consumers ??= new Map();
      this.#consumers.set(key, this.#dispatch.open({ topic, subscription, pass }));
      return "limited";
    } catch (error) {
      // A name that is none has no limits, and no broker takes it.
      if (error instanceof RefusalError) return { error: error.error, message: error.message };
      throw error;
    }
  }

  flow(key: number, permits: number, nowMs: number): void {
    const consumer = this.#consumers?.get(key);
    if (consumer !== undefined) this.#dispatch.onFlow(consumer, permits, nowMs);
  }

  delivered(key: number, messages: number, bytes: number, nowMs: number): void {
    const consumer = this.#consumers?.get(key);
    if (consumer === undefined) return;
    this.#dispatch.onDelivered(consumer, { messages, bytes, largest: messages }, nowMs);
  }

  drop(key: number, nowMs: number): void {
    const consumer = this.#consumers?.get(key);
    if (consumer === undefined) return;
    this.#consumers?.delete(key);
    this.#dispatch.onClosed(consumer, nowMs);
  }
}
