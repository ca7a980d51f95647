import { ConfigError } from "@sluice/core";
import { requireCount } from "@sluice/core/internal";
import { fullTopicName } from "../../topic-name.ts";
import { requireSignalOptions, shown } from "../check/arguments.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { MessageId } from "../message/message-id.ts";
import { isIndividual } from "./consumer-options.ts";
import type { ConsumerSettings } from "./consumer-options.ts";
import { DeliveredMessage } from "./receive/delivered-message.ts";
import { deliveryOf } from "./receive/delivery.ts";
import { inGroups } from "../wait/in-groups.ts";
import type { Message, MessageRef } from "./receive/message.ts";
import { Receivers } from "./receive/receivers.ts";
import type { TopicConsumer } from "./topic-consumer.ts";
import { TopicConsumers } from "./topic-consumers.ts";

export interface ReceiveOptions {
  /** Ends the wait. Default: none. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Receives the messages of a subscription, from one topic or from several.
 *
 * Delivery is at least once: a message that was not acknowledged when the connection was lost is
 * delivered again. A `MessageId` alone can be acknowledged if the consumer has one topic, or if the id
 * has a partition.
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

  /** Resolves once all topics are subscribed. */
  static async open(
    cluster: Cluster,
    settings: ConsumerSettings,
    signal?: AbortSignal,
  ): Promise<Consumer> {
    const consumer = new Consumer(cluster, settings);
    await consumer.#topics.start(signal);
    return consumer;
  }

  /** Full names; one per partition. */
  get topics(): readonly string[] {
    return this.#topics.all.map(({ topic }) => topic);
  }

  /** Whether the broker sends messages to this consumer; a standby of a failover subscription is not active. */
  get isActive(): boolean {
    return this.#topics.all.some(({ isActive }) => isActive);
  }

  /** Whether all topics are terminated and delivered to the end. */
  get hasReachedEnd(): boolean {
    const { all } = this.#topics;
    return all.length > 0 && all.every(({ hasReachedEnd }) => hasReachedEnd);
  }

  /**
   * Waits for the next message. Rejects with an `UnreadableMessageError` for a message that cannot be
   * decoded; the next call gets the next message.
   */
  async receive(options: ReceiveOptions = {}): Promise<Message> {
    requireSignalOptions("receive({ signal })", options);
    return this.#receivers.receive(options.signal);
  }

  /**
   * Messages that are in the receiver queue already, at most `countMax`: to work on several at once, after a
   * `receive` that waited for the first. Empty if none is there. Throws an `UnreadableMessageError` as
   * `receive` rejects with one.
   */
  receiveQueued(countMax: number): readonly Message[] {
    requireCount("countMax of receiveQueued", countMax, 0);
    return this.#receivers.takeQueued(countMax);
  }

  /** Ends when the consumer is closed. Leaving the loop does not close the consumer. */
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
   * Acknowledges a message. Resolves when the acknowledgement is queued; it is sent within
   * `ackGroupTimeMs`. With `ackReceipt`, resolves when the broker has confirmed it. Without
   * `batchIndexAck`, a batch is acknowledged when its last message is.
   */
  async ack(target: MessageRef | MessageId): Promise<void> {
    const consumer = this.#of("ack", target);
    if (target instanceof DeliveredMessage) return consumer.ack(target);
    const messageId = idOf(target);
    if (messageId.batchIndex >= 0 && !this.#canAckWithin(messageId))
      throw new ConfigError(
        `message id ${messageId.toString()} is within a batch; pass the message itself, or subscribe with batchIndexAck: true`,
      );
    return consumer.ackIds([...chunkIdsOf(target), messageId]);
  }

  /** Acknowledges this message and all before it of the same topic. Not for shared and Key_Shared. */
  async ackCumulative(target: MessageRef | MessageId): Promise<void> {
    const { type } = this.#settings;
    if (isIndividual(type))
      throw new ConfigError(
        `ackCumulative is not possible on a ${type} subscription; use ack, or the type exclusive or failover`,
      );
    const consumer = this.#of("ackCumulative", target);
    if (target instanceof DeliveredMessage) return consumer.ackCumulative(target);
    const messageId = idOf(target);
    if (messageId.batchIndex >= 0)
      throw new ConfigError(
        `message id ${messageId.toString()} is within a batch; pass the message itself to ackCumulative`,
      );
    return consumer.ackCumulativeId(messageId);
  }

  /**
   * Asks for redelivery after `nackRedeliveryDelayMs`: of the message and the rest of its batch; on an
   * exclusive or failover subscription, of all unacknowledged messages.
   */
  nack(target: MessageRef | MessageId): void {
    const consumer = this.#of("nack", target);
    if (target instanceof DeliveredMessage) consumer.nack(target.delivery);
    else consumer.nack(deliveryOf(idOf(target), chunkIdsOf(target)));
  }

  /** Asks for redelivery of all unacknowledged messages, including those not yet received. */
  redeliverUnacknowledged(): void {
    for (const consumer of this.#topics.all) consumer.redeliverUnacknowledged();
  }

  /**
   * Moves the subscription behind a message (to it, with `startInclusive`), or to the first message
   * published at or after a time in ms since 1970. `MessageId.earliest`, `MessageId.latest` and a time
   * apply to all topics; a message applies to its own topic.
   */
  async seek(target: MessageRef | MessageId | number, options: ReceiveOptions = {}): Promise<void> {
    requireSignalOptions("seek(target, { signal })", options);
    if (typeof target === "number") requireSeekTime(target);
    else requireMessageRef("seek", target, "or a time in ms since 1970");
    const consumers =
      typeof target === "number" || isEnd(target) ? this.#topics.all : [this.#of("seek", target)];
    const place = typeof target === "number" ? target : idOf(target);
    await inGroups(consumers, (consumer) => consumer.seek(place, options.signal));
  }

  /** The id of the last message of `topic`, which may be left out if there is only one. */
  async getLastMessageId(
    options: ReceiveOptions & { readonly topic?: string } = {},
  ): Promise<MessageId> {
    requireSignalOptions("getLastMessageId({ topic, signal })", options, ["signal", "topic"]);
    return this.#named(options.topic).getLastMessageId(options.signal);
  }

  /** Gives the broker no more permits; messages that were already permitted still come. */
  pause(): void {
    this.#topics.pause();
  }

  resume(): void {
    this.#topics.resume();
  }

  /** Deletes the subscription with its cursor, and closes the consumer. */
  async unsubscribe(options: ReceiveOptions = {}): Promise<void> {
    requireSignalOptions("unsubscribe({ signal })", options);
    await inGroups(this.#topics.all, (consumer) => consumer.unsubscribe(options.signal));
    await this.close();
  }

  /** Sends queued acknowledgements, then closes the consumer at its brokers. */
  close(): Promise<void> {
    if (this.#closing === undefined) {
      this.#receivers.end(this.#closedError());
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

  #closedError(): ClosedError {
    return new ClosedError(
      `the consumer of subscription "${this.subscription}" is closed; subscribe again`,
    );
  }

  /** The only message of a batch is the whole entry. */
  #canAckWithin({ batchSize }: MessageId): boolean {
    return batchSize === 1 || (this.#settings.batchIndexAck && batchSize > 0);
  }

  #of(method: string, target: MessageRef | MessageId): TopicConsumer {
    requireMessageRef(method, target);
    if (this.isClosed) throw this.#closedError();
    if (!(target instanceof MessageId)) return this.#named(target.topic);
    const { all } = this.#topics;
    const found = all.filter(
      ({ partition = -1 }) => all.length === 1 || partition === target.partition,
    );
    const [only] = found;
    if (only !== undefined && found.length === 1) return only;
    throw new ConfigError(
      `message id ${target.toString()} does not say which of the consumer's ${all.length} topics it is of; pass { topic, messageId }`,
    );
  }

  #named(topic: string | undefined): TopicConsumer {
    const found =
      topic === undefined
        ? this.#topics.only
        : (this.#topics.get(topic) ?? this.#topics.get(fullTopicName(topic)));
    if (found !== undefined) return found;
    const { all } = this.#topics;
    throw new ConfigError(
      `topic is ${shown(topic)}; use one of the consumer's ${all.length}: ${all
        .slice(0, 3)
        .map((each) => each.topic)
        .join(", ")}${all.length > 3 ? ", …" : ""}`,
    );
  }
}

/** Refuses a target that does not name a message. */
function requireMessageRef(method: string, target: unknown, more = ""): void {
  if (target instanceof MessageId || target instanceof DeliveredMessage) return;
  const isObject = typeof target === "object" && target !== null;
  const { topic, messageId } = isObject ? (target as Partial<MessageRef>) : {};
  if (typeof topic === "string" && messageId instanceof MessageId) return;
  const hint = target instanceof Date ? "; a Date is passed as date.getTime()" : "";
  throw new ConfigError(
    `the argument of ${method} is ${shown(target)}; pass a received message or a MessageId${more === "" ? "" : `, ${more}`}${hint}`,
  );
}

function requireSeekTime(ms: number): void {
  if (ms >= 0 && ms <= Number.MAX_SAFE_INTEGER) return;
  throw new ConfigError(
    `the argument of seek is ${ms}; use a time in ms since 1970, e.g. message.publishTimeMs`,
  );
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
