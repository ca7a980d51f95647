import { ConfigError } from "@sluice/core";
import { requireNumber } from "@sluice/core/internal";
import { fullTopicName } from "../../topic-name.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { MessageId } from "../message/message-id.ts";
import { isIndividual } from "./consumer-options.ts";
import type { ConsumerSettings } from "./consumer-options.ts";
import { DeliveredMessage } from "./delivered-message.ts";
import { deliveryOf } from "./delivery.ts";
import { inGroups } from "../lookup/in-groups.ts";
import type { Message, MessageRef } from "./message.ts";
import { Receivers } from "./receivers.ts";
import type { TopicConsumer } from "./topic-consumer.ts";
import { TopicConsumers } from "./topic-consumers.ts";

export interface ReceiveOptions {
  readonly signal?: AbortSignal | undefined;
}

/**
 * Receives the messages of a subscription, from one topic or from many.
 *
 * Every message is delivered at least once: again if it was not acknowledged when the connection was
 * lost. An id alone is enough to acknowledge if it says which topic is meant: there is only one, or
 * the id is that of a partition.
 */
export class Consumer implements AsyncIterable<Message> {
  readonly subscription: string;
  readonly #settings: ConsumerSettings;
  readonly #topics: TopicConsumers;
  readonly #receivers: Receivers<Message>;
  #closing: Promise<void> | undefined;

  private constructor(cluster: Cluster, settings: ConsumerSettings) {
    this.subscription = settings.subscription;
    this.#settings = settings;
    this.#topics = new TopicConsumers(cluster, settings, {
      onReady: () => this.#receivers.serve(),
      onEnded: (error) => {
        this.#receivers.end(error);
        this.#closing ??= this.#topics.close();
      },
    });
    this.#receivers = new Receivers<Message>(() => this.#topics.take());
  }

  /** Resolves once every topic is subscribed to. */
  static async open(
    cluster: Cluster,
    settings: ConsumerSettings,
    signal?: AbortSignal,
  ): Promise<Consumer> {
    const consumer = new Consumer(cluster, settings);
    await consumer.#topics.start(signal);
    return consumer;
  }

  /** By their full names, each partition for itself. */
  get topics(): readonly string[] {
    return this.#topics.all.map(({ topic }) => topic);
  }

  /** Whether messages may come: of a failover subscription, those of a topic go to one consumer. */
  get isActive(): boolean {
    return this.#topics.all.some(({ isActive }) => isActive);
  }

  /** Whether all topics were terminated and have been delivered to their ends. */
  get hasReachedEnd(): boolean {
    const { all } = this.#topics;
    return all.length > 0 && all.every(({ hasReachedEnd }) => hasReachedEnd);
  }

  /**
   * The next message, whenever it comes. Rejects with an `UnreadableMessageError` instead of a
   * message that cannot be read, and can be called again then.
   */
  receive({ signal }: ReceiveOptions = {}): Promise<Message> {
    return this.#receivers.receive(signal);
  }

  /** Ends when the consumer is closed. Leaving the loop leaves the consumer open. */
  [Symbol.asyncIterator](): AsyncIterator<Message, undefined> {
    const left = new AbortController();
    const end: IteratorReturnResult<undefined> = { done: true, value: undefined };
    return {
      next: async () => {
        try {
          return { done: false, value: await this.#receivers.receive(left.signal) };
        } catch (error) {
          if (left.signal.aborted || (error instanceof ClosedError && this.isClosed)) return end;
          throw error;
        }
      },
      return: () => {
        left.abort();
        return Promise.resolve(end);
      },
    };
  }

  /**
   * The message is done with. Resolves when this is noted and will be sent with others, within
   * `ackGroupTimeMs`; with `ackReceipt`, when the broker has confirmed it. Without `batchIndexAck`
   * the broker hears of a batch when all of it is done with, and only the last waits for it.
   */
  async ack(target: MessageRef | MessageId): Promise<void> {
    const consumer = this.#of(target);
    if (target instanceof DeliveredMessage) return consumer.ack(target);
    const messageId = idOf(target);
    if (messageId.batchIndex >= 0 && !this.#canAckWithin(messageId))
      throw new ConfigError("an id within a batch is acknowledged with batchIndexAck only");
    return consumer.ackIds([...chunkIdsOf(target), messageId]);
  }

  /** This message and all of its topic before it are done with. Not for shared subscriptions. */
  async ackCumulative(target: MessageRef | MessageId): Promise<void> {
    const { type } = this.#settings;
    if (isIndividual(type))
      throw new ConfigError(`ackCumulative needs the type exclusive or failover, not ${type}`);
    const consumer = this.#of(target);
    if (target instanceof DeliveredMessage) return consumer.ackCumulative(target);
    const messageId = idOf(target);
    if (messageId.batchIndex >= 0)
      throw new ConfigError("ackCumulative of an id within a batch needs the message itself");
    return consumer.ackCumulativeId(messageId);
  }

  /**
   * The message could not be handled: it comes again after `nackRedeliveryDelayMs`, and with it its
   * whole batch; of an exclusive or failover subscription, all that is not acknowledged.
   */
  nack(target: MessageRef | MessageId): void {
    const consumer = this.#of(target);
    if (target instanceof DeliveredMessage) consumer.nack(target.delivery);
    else consumer.nack(deliveryOf(idOf(target), chunkIdsOf(target)));
  }

  /** Everything that is not acknowledged comes again, also what waits to be received. */
  redeliverUnacknowledged(): void {
    for (const consumer of this.#topics.all) consumer.redeliverUnacknowledged();
  }

  /**
   * Goes on behind a message (with `startInclusive` at it), or at the first one published at or
   * after an instant of the wall clock in milliseconds. The earliest, the latest and an instant are
   * for all topics; a message is for its own.
   */
  async seek(
    target: MessageRef | MessageId | number,
    { signal }: ReceiveOptions = {},
  ): Promise<void> {
    if (typeof target === "number") requireNumber("seek", target, 0, Number.MAX_SAFE_INTEGER);
    const consumers =
      typeof target === "number" || isEnd(target) ? this.#topics.all : [this.#of(target)];
    const place = typeof target === "number" ? target : idOf(target);
    await inGroups(consumers, (consumer) => consumer.seek(place, signal));
  }

  /** Of the only topic, or of the one that is named. */
  async getLastMessageId({
    topic,
    signal,
  }: ReceiveOptions & { readonly topic?: string } = {}): Promise<MessageId> {
    return this.#named(topic).getLastMessageId(signal);
  }

  /** Asks for no more; what is on its way still comes. */
  pause(): void {
    this.#topics.pause();
  }

  resume(): void {
    this.#topics.resume();
  }

  /** Ends the subscription with all that it remembers, and closes the consumer. */
  async unsubscribe({ signal }: ReceiveOptions = {}): Promise<void> {
    await inGroups(this.#topics.all, (consumer) => consumer.unsubscribe(signal));
    await this.close();
  }

  /** Sends the acknowledgements that wait, and takes leave of the brokers. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#receivers.end(new ClosedError("the consumer is closed"));
      this.#closing = this.#topics.close();
    }
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** A batch's only message is the whole entry. */
  #canAckWithin({ batchSize }: MessageId): boolean {
    return batchSize === 1 || (this.#settings.batchIndexAck && batchSize > 0);
  }

  #of(target: MessageRef | MessageId): TopicConsumer {
    if (this.isClosed) throw new ClosedError("the consumer is closed");
    if (!(target instanceof MessageId)) return this.#named(target.topic);
    const { all } = this.#topics;
    const found = all.filter(
      ({ partition = -1 }) => all.length === 1 || partition === target.partition,
    );
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    throw new ConfigError(
      `message ${target.toString()} may be of several topics; give its topic, too`,
    );
  }

  #named(topic: string | undefined): TopicConsumer {
    const found =
      topic === undefined
        ? this.#topics.only
        : (this.#topics.get(topic) ?? this.#topics.get(fullTopicName(topic)));
    if (found !== undefined) return found;
    throw new ConfigError(`topic is ${topic ?? "missing"}; it must be one of the consumer's`);
  }
}

function idOf(target: MessageRef | MessageId): MessageId {
  return target instanceof MessageId ? target : target.messageId;
}

function chunkIdsOf(target: MessageRef | MessageId): readonly MessageId[] {
  return target instanceof MessageId ? [] : (target.chunkIds ?? []);
}

function isEnd(target: MessageRef | MessageId): boolean {
  const id = idOf(target);
  return id.equals(MessageId.earliest) || id.equals(MessageId.latest);
}
