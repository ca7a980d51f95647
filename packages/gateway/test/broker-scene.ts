import { SeededRandom } from "@sluice/core";
import { nextTurn } from "@sluice/core/system";
import { VirtualTimer } from "@sluice/core/testing";
import { Broker } from "../src/broker/broker.ts";
import type { BrokerDependencies } from "../src/broker/broker.ts";
import type { BrokerEvent } from "../src/observe/broker-event.ts";
import type { RefusalError } from "../src/refusal/refusal-error.ts";
import type { BrokerSettings } from "../src/topic/settings.ts";
import type { BrokerStore } from "../src/storage/store/broker-store.ts";
import { MemoryBrokerStore } from "../src/storage/store/memory-broker-store.ts";
import type { Position } from "../src/storage/position.ts";
import type { Delivery } from "../src/subscription/delivery.ts";
import type { ConsumerHandle, ConsumerRequest } from "../src/topic/consumer/consumer-handle.ts";
import type { ProducerHandle, ProducerRequest } from "../src/topic/producer/producer-handle.ts";

/** A broker in virtual time, and clients that remember what they are told. */
export class BrokerScene {
  readonly timer = new VirtualTimer();
  readonly broker: Broker;
  readonly events: BrokerEvent[] = [];

  constructor(
    store: BrokerStore = new MemoryBrokerStore(),
    settings: BrokerSettings = {},
    extra: Partial<BrokerDependencies> = {},
  ) {
    const { timer } = this;
    const random = new SeededRandom(1);
    const observe = (event: BrokerEvent): void => void this.events.push(event);
    this.broker = new Broker(
      { store, timer, wallClock: timer, random, nextTurn, observe, ...extra },
      settings,
    );
  }

  async producer(topic: string, request: Partial<ProducerRequest> = {}): Promise<TestProducer> {
    const producer = new TestProducer();
    producer.handle = await this.broker.openProducer({
      topic,
      accessMode: "shared",
      owner: producer,
      epoch: 0n,
      onReady: () => undefined,
      onClosed: (why) => producer.closed.push(why),
      ...request,
    });
    return producer;
  }

  async consumer(topic: string, request: Partial<ConsumerRequest> = {}): Promise<TestConsumer> {
    const consumer = new TestConsumer();
    consumer.handle = await this.broker.subscribe({
      topic,
      subscription: "s",
      type: "exclusive",
      priorityLevel: 0,
      isDurable: true,
      start: { kind: "earliest" },
      mayCreateTopic: true,
      deliver: (deliveries) => consumer.onDelivered(deliveries),
      onActiveChange: (isActive) => consumer.activeChanges.push(isActive),
      onClosed: (why) => consumer.closed.push(why),
      ...request,
    });
    return consumer;
  }
}

class TestProducer {
  readonly closed: RefusalError[] = [];
  #handle: ProducerHandle | undefined;

  set handle(handle: ProducerHandle) {
    this.#handle = handle;
  }

  get handle(): ProducerHandle {
    if (this.#handle === undefined) throw new Error("the producer is not open");
    return this.#handle;
  }

  say(text: string, messageCount = 1): Promise<Position> {
    return this.handle.publish({ parts: [Buffer.from(text)], messageCount }).then((position) => {
      if (position === undefined) throw new Error("the entry was stored before");
      return position;
    });
  }
}

export class TestConsumer {
  readonly closed: RefusalError[] = [];
  readonly activeChanges: boolean[] = [];
  readonly deliveries: Delivery[] = [];
  #handle: ConsumerHandle | undefined;
  #taken = 0;
  #onMore: () => void = () => undefined;

  set handle(handle: ConsumerHandle) {
    this.#handle = handle;
  }

  get handle(): ConsumerHandle {
    if (this.#handle === undefined) throw new Error("the consumer is not subscribed");
    return this.#handle;
  }

  onDelivered(deliveries: readonly Delivery[]): void {
    this.deliveries.push(...deliveries);
    this.#onMore();
  }

  /** Asks for so many more messages of one each, and waits for them. */
  async take(count: number): Promise<readonly string[]> {
    this.handle.flow(count);
    return this.wait(count);
  }

  /** The next ones that come. */
  async wait(count: number): Promise<readonly string[]> {
    const from = this.#taken;
    this.#taken += count;
    while (this.deliveries.length < this.#taken)
      await new Promise<void>((resolve) => {
        this.#onMore = resolve;
      });
    return this.deliveries
      .slice(from, this.#taken)
      .map(({ bytes }) => Buffer.from(bytes).toString());
  }

  acknowledgeAll(): void {
    this.handle.acknowledge(this.deliveries.map(({ position }) => ({ position })));
  }
}

/** Lets everything that needs no time happen. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await nextTurn();
}
