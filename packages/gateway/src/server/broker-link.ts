import type { Clock } from "@sluice/core";
import { ACCESS_MODE, ACK_TYPE, SUB_TYPE } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import type { Broker } from "../broker/broker.ts";
import { messageIdOf, positionOf } from "../broker/message-id.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import type { SchemaRegistry } from "../schema/schema-registry.ts";
import type { SessionConsumer } from "../session/consumer.ts";
import type { Effect } from "../session/effect.ts";
import type { PendingSend, SessionProducer } from "../session/producer.ts";
import type { Session } from "../session/session.ts";
import type { Ack, Delivery } from "../subscription/delivery.ts";
import type { ConsumerHandle } from "../topic/consumer-handle.ts";
import type { AccessMode, ProducerHandle } from "../topic/producer-handle.ts";
import { answerTo } from "./answers.ts";
import { consumerRequestOf, given } from "./consumer-request.ts";
import type { PublishMemory } from "./publish-memory.ts";
import { refusalOf } from "./refusal-of.ts";

/** What all connections of a server share. */
export interface BrokerSide {
  readonly broker: Broker;
  readonly schemas: SchemaRegistry;
  readonly memory: PublishMemory;
  readonly wallClock: Clock;
}

/** Effects that concern topics. */
export type BrokerEffect = Extract<
  Effect,
  {
    readonly kind:
      | "openProducer"
      | "publish"
      | "closeProducer"
      | "subscribe"
      | "flow"
      | "ack"
      | "redeliver"
      | "closeConsumer"
      | "ask";
  }
>;

/** Carries out what one session wants of the broker, and tells the session what came of it. */
export class BrokerLink {
  readonly #side: BrokerSide;
  readonly #session: Session;
  readonly #report: (effects: readonly Effect[]) => void;
  readonly #producers = new Map<SessionProducer, ProducerHandle>();
  readonly #consumers = new Map<SessionConsumer, ConsumerHandle>();
  #isDelivering = true;

  /** `report`: carries out the effects that a result has. */
  constructor(side: BrokerSide, session: Session, report: (effects: readonly Effect[]) => void) {
    this.#side = side;
    this.#session = session;
    this.#report = report;
  }

  carryOut(effect: BrokerEffect): void {
    switch (effect.kind) {
      case "publish":
        void this.#publish(effect.send, effect.entry);
        break;
      case "openProducer":
        void this.#openProducer(effect.producer, effect.request);
        break;
      case "closeProducer":
        this.#producers.get(effect.producer)?.close();
        this.#producers.delete(effect.producer);
        break;
      case "subscribe":
        void this.#subscribe(effect.consumer, effect.request);
        break;
      case "flow":
        this.#consumers.get(effect.consumer)?.flow(effect.messages);
        break;
      case "ack":
        this.#acknowledge(effect.consumer, effect.request);
        break;
      case "redeliver":
        this.#redeliver(effect);
        break;
      case "closeConsumer":
        this.#consumers.get(effect.consumer)?.close();
        this.#consumers.delete(effect.consumer);
        break;
      case "ask":
        void this.#ask(effect);
        break;
    }
  }

  pauseDelivery(): void {
    this.#isDelivering = false;
    for (const handle of this.#consumers.values()) handle.pause();
  }

  resumeDelivery(): void {
    this.#isDelivering = true;
    for (const handle of this.#consumers.values()) {
      // What the one before delivered may have been enough to stop again.
      if (this.#isPaused()) return;
      handle.resume();
    }
  }

  #isPaused(): boolean {
    return !this.#isDelivering;
  }

  async #publish(send: PendingSend, entry: Buffer): Promise<void> {
    const { memory } = this.#side;
    const { producer, messageCount, sizeBytes } = send;
    memory.reserve(sizeBytes);
    try {
      const handle = openOr(this.#producers.get(producer));
      const position = await handle.publish({ parts: [entry], messageCount });
      this.#report(this.#session.published(send, messageIdOf(position)));
    } catch (error) {
      this.#report(this.#session.publishFailed(send, refusalOf(error)));
    } finally {
      // After the answer: frames that have waited for this room may be answered at once.
      memory.release(sizeBytes);
    }
  }

  async #openProducer(
    producer: SessionProducer,
    request: CommandBodies["producer"],
  ): Promise<void> {
    const { topic, producerName, producerAccessMode = 0, epoch = 0n, topicEpoch, schema } = request;
    let ended: RefusalError | undefined;
    try {
      const handle = await this.#side.broker.openProducer({
        topic,
        producerName: given(producerName),
        accessMode: ACCESS_MODES.get(producerAccessMode) ?? "shared",
        owner: this,
        epoch,
        topicEpoch,
        initialSubscription: given(request.initialSubscriptionName),
        onReady: (newEpoch) => this.#report(this.#session.producerReady(producer, newEpoch)),
        onClosed: (why) => {
          ended = why;
          this.#producers.delete(producer);
          this.#report(this.#session.producerEnded(producer));
        },
      });
      this.#producers.set(producer, handle);
      const schemaVersion =
        schema === undefined ? undefined : await this.#side.schemas.put(topic, schema);
      this.#report(
        this.#session.producerOpened(producer, {
          name: handle.name,
          isReady: handle.isReady,
          topicEpoch: handle.topicEpoch,
          schemaVersion,
        }),
      );
      if (ended !== undefined) {
        this.#producers.delete(producer);
        this.#report(this.#session.producerEnded(producer));
      }
    } catch (error) {
      this.#producers.get(producer)?.close();
      this.#producers.delete(producer);
      this.#report(this.#session.producerFailed(producer, refusalOf(error)));
    }
  }

  async #subscribe(consumer: SessionConsumer, request: CommandBodies["subscribe"]): Promise<void> {
    let ended: RefusalError | undefined;
    try {
      const handle = await this.#side.broker.subscribe({
        ...consumerRequestOf(request, this.#side.wallClock),
        deliver: (deliveries) => {
          for (const delivery of deliveries) this.#deliver(consumer, delivery);
        },
        onActiveChange: (isActive) => this.#report(this.#session.activeChanged(consumer, isActive)),
        onClosed: (why) => {
          ended = why;
          this.#consumers.delete(consumer);
          this.#report(this.#session.consumerEnded(consumer));
        },
      });
      if (this.#isPaused()) handle.pause();
      this.#consumers.set(consumer, handle);
      this.#report(this.#session.subscribed(consumer));
      if (request.subType === SUB_TYPE.failover)
        this.#report(this.#session.activeChanged(consumer, handle.isActive));
      if (ended !== undefined) {
        this.#consumers.delete(consumer);
        this.#report(this.#session.consumerEnded(consumer));
      }
    } catch (error) {
      this.#report(this.#session.subscribeFailed(consumer, refusalOf(error)));
    }
  }

  #deliver(consumer: SessionConsumer, delivery: Delivery): void {
    const { position, bytes, redeliveryCount, ackSet } = delivery;
    const { partition } = consumer;
    // Written out: a spread costs more here than all the rest.
    const { ledgerId, entryId } = messageIdOf(position);
    this.#report(
      this.#session.delivered(consumer, {
        messageId: { ledgerId, entryId, partition },
        redeliveryCount,
        ackSet,
        entry: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
      }),
    );
  }

  #acknowledge(consumer: SessionConsumer, request: CommandBodies["ack"]): void {
    const handle = this.#consumers.get(consumer);
    const acks = (request.messageIds ?? []).map((id): Ack => ({
      position: positionOf(id),
      ackSet: id.ackSet !== undefined && id.ackSet.length > 0 ? id.ackSet : undefined,
    }));
    try {
      const [first] = acks;
      if (request.ackType !== ACK_TYPE.cumulative) handle?.acknowledge(acks);
      else if (first !== undefined) handle?.acknowledgeUpTo(first);
      this.#report(this.#session.acknowledged(request));
    } catch (error) {
      this.#report(this.#session.acknowledged(request, refusalOf(error)));
    }
  }

  #redeliver({ consumer, messageIds }: Extract<Effect, { readonly kind: "redeliver" }>): void {
    const handle = this.#consumers.get(consumer);
    if (messageIds.length === 0) handle?.redeliverAll();
    else handle?.redeliver(messageIds.map(positionOf));
  }

  async #ask({ question }: Extract<Effect, { readonly kind: "ask" }>): Promise<void> {
    const handle = "consumer" in question ? this.#consumers.get(question.consumer) : undefined;
    try {
      const answer = await answerTo(question, handle, this.#side);
      if (question.about === "unsubscribe") this.#consumers.delete(question.consumer);
      this.#report(this.#session.answered(question, answer));
    } catch (error) {
      this.#report(this.#session.refused(question, refusalOf(error)));
    }
  }
}

const ACCESS_MODES: ReadonlyMap<number, AccessMode> = new Map([
  [ACCESS_MODE.shared, "shared"],
  [ACCESS_MODE.exclusive, "exclusive"],
  [ACCESS_MODE.waitForExclusive, "wait-for-exclusive"],
  [ACCESS_MODE.exclusiveWithFencing, "exclusive-with-fencing"],
]);

function openOr(handle: ProducerHandle | undefined): ProducerHandle {
  if (handle !== undefined) return handle;
  throw new RefusalError("ServiceNotReady", "the producer is closed");
}
