import type { Clock } from "@sluice/core";
import type { DispatchConsumer } from "../../ingress/dispatch/dispatch-consumer.ts";
import type { Dispatch } from "../../ingress/dispatch/dispatch.ts";
import { messagesLeft } from "../../subscription/delivery.ts";
import type { Delivery } from "../../subscription/delivery.ts";
import type { ConsumerHandle } from "../../topic/consumer/consumer-handle.ts";

/** A consumer whose permits reach its topic as far as dispatch limits allow. */
export class LimitedConsumer {
  readonly #dispatch: Dispatch;
  readonly #clock: Clock;
  readonly #consumer: DispatchConsumer;

  constructor(
    dispatch: Dispatch,
    clock: Clock,
    {
      handle,
      topic,
      subscription,
    }: { readonly handle: ConsumerHandle; readonly topic: string; readonly subscription: string },
  ) {
    this.#dispatch = dispatch;
    this.#clock = clock;
    this.#consumer = dispatch.open({
      topic,
      subscription,
      pass: (permits) => handle.flow(permits),
      withdraw: (permitsMost) => handle.withdraw(permitsMost),
    });
  }

  flow(permits: number): void {
    this.#dispatch.onFlow(this.#consumer, permits, this.#clock.now());
  }

  onDelivered(deliveries: readonly Delivery[]): void {
    let messages = 0;
    let bytes = 0;
    let largest = 0;
    for (const delivery of deliveries) {
      const count = messagesLeft(delivery.messageCount, delivery.ackSet);
      messages += count;
      bytes += delivery.bytes.length;
      if (count > largest) largest = count;
    }
    this.#dispatch.onDelivered(this.#consumer, { messages, bytes, largest }, this.#clock.now());
  }

  close(): void {
    this.#dispatch.onClosed(this.#consumer, this.#clock.now());
  }
}
