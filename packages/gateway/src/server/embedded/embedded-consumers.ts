import { SUB_TYPE } from "@sluice/pulsar/wire";
import type { CommandBodies } from "@sluice/pulsar/wire";
import { messageIdOf } from "../../broker/message-id.ts";
import { RefusalError } from "../../refusal/refusal-error.ts";
import { refusalOf } from "../../refusal/refusal-of.ts";
import type { Effect } from "../../session/effect.ts";
import type { MessageToDeliver, ResultEvent } from "../../session/session-event.ts";
import type { Ack, Delivery } from "../../subscription/delivery.ts";
import type { ConsumerHandle } from "../../topic/consumer/consumer-handle.ts";
import type { AskedConsumer } from "./answers.ts";
import { consumerRequestOf, partitionOf } from "./consumer-request.ts";
import { clientFacts } from "./embedded-world.ts";
import type { EmbeddedConnection, EmbeddedWorld } from "./embedded-world.ts";
import { LimitedConsumer } from "./limited-consumer.ts";

type AcknowledgedEvent = Extract<ResultEvent, { readonly kind: "acknowledged" }>;
type EffectOf<Kind extends Effect["kind"]> = Extract<Effect, { readonly kind: Kind }>;

interface EmbeddedConsumer extends AskedConsumer {
  readonly limited: LimitedConsumer;
}

/** The consumers of one connection. */
export class EmbeddedConsumers {
  readonly #world: EmbeddedWorld;
  readonly #connection: EmbeddedConnection;
  readonly #consumers = new Map<number, EmbeddedConsumer>();
  #isDelivering = true;

  constructor(world: EmbeddedWorld, connection: EmbeddedConnection) {
    this.#world = world;
    this.#connection = connection;
  }

  get(consumer: number): AskedConsumer | undefined {
    return this.#consumers.get(consumer);
  }

  /** While the client does not read, nothing is delivered. */
  pause(): void {
    this.#isDelivering = false;
    for (const { handle } of this.#consumers.values()) handle.pause();
  }

  resume(): void {
    this.#isDelivering = true;
    for (const { handle } of this.#consumers.values()) {
      // What the consumer before was delivered may have been enough to stop again.
      if (this.#isPaused()) return;
      handle.resume();
    }
  }

  flow({ consumer, messages }: EffectOf<"flow">): void {
    this.#consumers.get(consumer)?.limited.flow(messages);
  }

  close(consumer: number): void {
    this.#handleOf(consumer)?.close();
    this.drop(consumer);
  }

  drop(consumer: number): void {
    this.#consumers.get(consumer)?.limited.close();
    this.#consumers.delete(consumer);
    this.#connection.clientBytes.release(consumer);
  }

  async subscribe(consumer: number, request: CommandBodies["subscribe"]): Promise<void> {
    const { broker, wallClock, dispatch, clock } = this.#world;
    const { clientBytes, report } = this.#connection;
    let ended: RefusalError | undefined;
    let limited: LimitedConsumer | undefined;
    try {
      this.#requireSubscribeRate(request);
      clientBytes.reserve(consumer, request, [request.subscription, request.consumerName]);
      const partition = partitionOf(request.topic);
      const handle = await broker.subscribe({
        ...consumerRequestOf(request, wallClock),
        deliver: (deliveries) => {
          const messages = deliveries.map((delivery) => messageOf(delivery, partition));
          report({ kind: "delivered", consumer, messages });
          limited?.onDelivered(deliveries);
        },
        client: clientFacts(this.#connection, request.metadata),
        onContested: () => this.#connection.onContested(),
        onReachedEnd: () => report({ kind: "reachedEnd", consumer }),
        onActiveChange: (isActive) => report({ kind: "activeChanged", consumer, isActive }),
        onClosed: (why) => {
          ended = why;
          this.drop(consumer);
          this.#connection.reportClosed({ kind: "consumerClosed", consumer });
        },
      });
      if (this.#isPaused()) handle.pause();
      const { topic, subscription, subType } = request;
      limited = new LimitedConsumer(dispatch, clock, { handle, topic, subscription });
      this.#consumers.set(consumer, { handle, partition, subType, limited });
      const isActive = request.subType === SUB_TYPE.failover ? handle.isActive : undefined;
      report({ kind: "subscribed", consumer, isActive });
      if (ended === undefined) return;
      this.drop(consumer);
      report({ kind: "consumerClosed", consumer });
    } catch (error) {
      this.drop(consumer);
      report({ kind: "subscribeFailed", consumer, refusal: refusalOf(error) });
    }
  }

  /** A client that subscribes in a loop is told how long to wait. */
  #requireSubscribeRate({ topic, consumerName, consumerId }: CommandBodies["subscribe"]): void {
    const { dispatch, clock } = this.#world;
    const { address } = this.#connection;
    const host = address.slice(0, address.lastIndexOf(":"));
    const subscriber = { topic, host, consumerName: consumerName ?? "", consumerId };
    const why = dispatch.subscribeRates.refuses(subscriber, clock.now());
    if (why !== undefined) throw new RefusalError("TooManyRequests", why);
  }

  /** One part of an ACK or REDELIVER. False if the rest is not to be done. */
  step(effect: EffectOf<"ack" | "redeliver">, acks: readonly Ack[], isLast: boolean): boolean {
    if (effect.kind === "redeliver") {
      this.#redeliver(effect, acks);
      return true;
    }
    const isTaken = this.#acknowledge(effect, acks);
    if (isTaken && isLast) this.#connection.report(acknowledged(effect));
    return isTaken;
  }

  /** False if the broker refuses, which the client is told. */
  #acknowledge(effect: EffectOf<"ack">, acks: readonly Ack[]): boolean {
    const handle = this.#handleOf(effect.consumer);
    try {
      const [first] = acks;
      if (!effect.isCumulative) handle?.acknowledge(acks);
      else if (first !== undefined) handle?.acknowledgeUpTo(first);
      return true;
    } catch (error) {
      this.#connection.report({ ...acknowledged(effect), refusal: refusalOf(error) });
      return false;
    }
  }

  /** No ids at all mean all that the consumer has. */
  #redeliver({ consumer }: EffectOf<"redeliver">, acks: readonly Ack[]): void {
    const handle = this.#handleOf(consumer);
    if (acks.length === 0) handle?.redeliverAll();
    else handle?.redeliver(acks.map(({ position }) => position));
  }

  #isPaused(): boolean {
    return !this.#isDelivering;
  }

  #handleOf(consumer: number): ConsumerHandle | undefined {
    return this.#consumers.get(consumer)?.handle;
  }
}

function acknowledged({ consumerId, requestId }: EffectOf<"ack">): AcknowledgedEvent {
  return { kind: "acknowledged", consumerId, requestId };
}

function messageOf(delivery: Delivery, partition: number | undefined): MessageToDeliver {
  const { position, bytes, redeliveryCount, ackSet } = delivery;
  // Written out: a spread costs more here than all the rest.
  const { ledgerId, entryId } = messageIdOf(position);
  const { buffer, byteOffset, byteLength } = bytes;
  return {
    messageId: { ledgerId, entryId, partition },
    redeliveryCount,
    ackSet,
    entry: Buffer.isBuffer(bytes) ? bytes : Buffer.from(buffer, byteOffset, byteLength),
  };
}
