import type { SluiceError } from "@sluice/core";
import { parseTopicName } from "../../topic-name.ts";
import type { Command } from "../../wire/command.ts";
import type { CommandMessage } from "../../wire/definition/consumer.ts";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { Attachment } from "../attachment/attachment.ts";
import type { AttachmentOwner } from "../attachment/attachment.ts";
import type { Cluster } from "../lookup/cluster.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import { MessageId } from "../message/message-id.ts";
import { AckTracker } from "./acknowledge/ack-tracker.ts";
import { ConsumerLink } from "./consumer-link.ts";
import { isIndividual } from "./consumer-options.ts";
import type { ConsumerSettings } from "./consumer-options.ts";
import type { CorruptEntryError } from "./receive/corrupt-entry-error.ts";
import { DeliveredMessage } from "./receive/delivered-message.ts";
import type { Delivery } from "./receive/delivery.ts";
import { Inbox } from "./receive/inbox.ts";
import type { Received } from "./receive/incoming-entry.ts";
import { Redeliveries } from "./redeliver/redeliveries.ts";
import { StartPosition } from "./start-position.ts";
import { subscribeCommand } from "./subscribe-command.ts";

/** Hands the messages to the application. No method may throw. */
export interface TopicConsumerListener {
  /** A message may be ready to take. */
  onReady(consumer: TopicConsumer): void;
  /** The consumer ended, and `close` is not the reason. */
  onEnded(consumer: TopicConsumer, error: SluiceError): void;
}

export interface TopicConsumerOptions {
  /** The full name of a topic without partitions, or of one partition. */
  readonly topic: string;
  readonly queueSize: number;
  readonly listener: TopicConsumerListener;
}

/** Consumes a topic without partitions, or one partition. */
export class TopicConsumer implements AttachmentOwner {
  readonly topic: string;
  readonly partition: number | undefined;
  readonly #cluster: Cluster;
  readonly #settings: ConsumerSettings;
  readonly #listener: TopicConsumerListener;
  readonly #id: bigint;
  readonly #attachment: Attachment;
  readonly #link: ConsumerLink;
  readonly #inbox: Inbox;
  readonly #acks: AckTracker;
  readonly #redeliveries: Redeliveries;
  /** On a durable subscription, valid until the first message after a seek. */
  #start: StartPosition;
  /**
   * Pulsar's consumer epoch: incremented by each redelivery of everything. Messages of a lower
   * epoch are dropped.
   */
  #epoch = 0n;
  /** The newest seek in progress. Messages that come meanwhile were sent before it took effect. */
  #seeking: symbol | undefined;
  #isActive: boolean;
  #hasReachedEnd = false;

  constructor(cluster: Cluster, settings: ConsumerSettings, options: TopicConsumerOptions) {
    const { topic, queueSize, listener } = options;
    const { timer } = cluster;
    const { startMessageId, startInclusive, ackGroupTimeMs, batchIndexAck, ackReceipt } = settings;
    const { nackRedeliveryDelayMs, ackTimeoutMs } = settings;
    this.topic = topic;
    this.partition = parseTopicName(topic).partition;
    this.#cluster = cluster;
    this.#settings = settings;
    this.#listener = listener;
    this.#id = cluster.takeConsumerId();
    this.#isActive = settings.type !== "failover";
    this.#attachment = new Attachment(cluster, this, { role: "consumer", id: this.#id, topic });
    const identity = { consumerId: this.#id, topic };
    this.#link = new ConsumerLink(identity, () => this.#attachment.connection);
    this.#inbox = this.#createInbox(queueSize);
    this.#acks = new AckTracker(timer, this.#link, {
      groupTimeMs: ackGroupTimeMs,
      batchIndexAck,
      receipt: ackReceipt,
    });
    this.#redeliveries = new Redeliveries(timer, {
      nackDelayMs: nackRedeliveryDelayMs,
      ackTimeoutMs,
      redeliver: (ids) => this.#redeliver(ids),
    });
    this.#start = new StartPosition(startMessageId, startInclusive);
  }

  /**
   * Whether the broker sends messages to this consumer; a standby of a failover subscription is not
   * active.
   */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** The topic is terminated, and all its messages are delivered. */
  get hasReachedEnd(): boolean {
    return this.#hasReachedEnd;
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#attachment.start(signal);
  }

  /** Undefined if no message is queued. */
  take(): Received | undefined {
    const received = this.#inbox.take();
    if (received === undefined) return undefined;
    const { isDurable } = this.#settings;
    // Another consumer may move a durable subscription; a reader goes on from here after a lost
    // connection.
    this.#start = isDurable ? StartPosition.none : new StartPosition(received.messageId, false);
    if (received instanceof DeliveredMessage) this.#redeliveries.onTaken(received.delivery);
    return received;
  }

  ack({ delivery, index }: DeliveredMessage): Promise<void> {
    return this.#acks.ack((pending) => {
      const isNew = pending.ack(delivery, index);
      if (delivery.unacked.count === 0) this.#redeliveries.onAcked(delivery);
      return isNew;
    });
  }

  /** Acknowledges messages of which only the ids are known, perhaps from another process. */
  ackIds(messageIds: readonly MessageId[]): Promise<void> {
    return this.#acks.ack((pending) => {
      for (const messageId of messageIds) {
        const { batchIndex, batchSize } = messageId;
        const id = messageId.toData();
        if (batchIndex < 0) pending.ackEntry(id);
        else pending.ackBatchIndex(id, batchIndex, batchSize);
      }
      return true;
    });
  }

  ackCumulative({ delivery, index }: DeliveredMessage): Promise<void> {
    return this.#acks.ack((pending) => pending.ackCumulative(delivery, index));
  }

  ackCumulativeId(messageId: MessageId): Promise<void> {
    return this.#acks.ack((pending) => pending.ackCumulativeEntry(messageId.toData()));
  }

  nack(delivery: Delivery): void {
    this.#redeliveries.onNacked(delivery);
  }

  /**
   * Asks for redelivery of everything unacknowledged, and drops the queued messages, which are part
   * of that.
   */
  redeliverUnacknowledged(): void {
    this.#acks.flush();
    this.#redeliveries.clear();
    if (!isIndividual(this.#settings.type)) this.#epoch++;
    this.#link.redeliverAll(this.#epoch);
    // After the command, because the permits bring new messages, which would then be delivered
    // twice.
    this.#inbox.clear();
  }

  /** Seeks to a message, or to the first one published at or after a time. */
  async seek(target: MessageId | number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.#acks.flush();
    const before = this.#start;
    const sought = this.#link.seek(target, signal);
    const seeking = Symbol("seek");
    if (this.#link.isOpen) this.#moveTo(target, seeking);
    const moved = this.#start;
    try {
      await sought;
    } catch (error) {
      if (this.#start === moved) this.#start = before;
      // Messages that came meanwhile were dropped.
      if (this.#seeking === seeking) this.redeliverUnacknowledged();
      throw error;
    } finally {
      if (this.#seeking === seeking) this.#seeking = undefined;
    }
  }

  async getLastMessageId(signal?: AbortSignal): Promise<MessageId> {
    const id = await this.#link.lastMessageId(signal);
    return MessageId.of(id, { partition: this.partition ?? id.partition });
  }

  /** Deletes the subscription and closes this consumer. */
  async unsubscribe(signal?: AbortSignal): Promise<void> {
    await this.#link.unsubscribe(signal);
    await this.close();
  }

  pause(): void {
    this.#inbox.pause();
  }

  resume(): void {
    this.#inbox.resume();
  }

  async close(): Promise<void> {
    this.#redeliveries.clear();
    await this.#acks.close();
    await this.#attachment.close();
  }

  async open(connection: Connection, options: RequestOptions): Promise<void> {
    // The broker redelivers the queued messages on the new connection.
    this.#inbox.clear();
    this.#redeliveries.clear();
    await connection.request(
      "success",
      (requestId) =>
        subscribeCommand(this.#settings, {
          topic: this.topic,
          consumerId: this.#id,
          requestId,
          startMessageId: this.#start.id,
          epoch: this.#epoch,
        }),
      options,
    );
  }

  onAttached(): void {
    this.#seeking = undefined;
    // Acknowledgements before permits, so that acknowledged messages are not redelivered.
    this.#acks.restart();
    this.#inbox.restart();
  }

  onCommand(command: Command, entry: Buffer): void {
    if (command.kind === "message") this.#onMessage(command.body, entry);
    else if (command.kind === "activeConsumerChange")
      this.#isActive = command.body.isActive === true;
    else if (command.kind === "reachedEndOfTopic") this.#hasReachedEnd = true;
  }

  onDrain(): void {
    // Commands of consumers are small and need not wait.
  }

  onDetached(): void {
    this.#isActive = this.#settings.type !== "failover";
  }

  onEnded(error: SluiceError): void {
    this.#redeliveries.clear();
    this.#listener.onEnded(this, error);
  }

  #onMessage(command: CommandMessage, entry: Buffer): void {
    const { consumerEpoch } = command;
    const isOutdated = consumerEpoch !== undefined && consumerEpoch < this.#epoch;
    if (isOutdated || this.#seeking !== undefined) {
      this.#inbox.drop(command, entry);
      return;
    }
    this.#inbox.add(this.#located(command), entry);
    this.#listener.onReady(this);
  }

  /** Brokers leave the partition out of some ids. */
  #located(command: CommandMessage): CommandMessage {
    if (this.partition === undefined) return command;
    return { ...command, messageId: { ...command.messageId, partition: this.partition } };
  }

  #redeliver(ids: readonly MessageIdData[]): void {
    // On exclusive and failover subscriptions a single message cannot be redelivered out of order.
    if (isIndividual(this.#settings.type)) this.#link.redeliver(ids);
    else this.redeliverUnacknowledged();
  }

  /** Drops everything that belongs to the time before the seek. */
  #moveTo(target: MessageId | number, seeking: symbol): void {
    const { isDurable, startInclusive } = this.#settings;
    this.#seeking = seeking;
    this.#hasReachedEnd = false;
    if (target instanceof MessageId) this.#start = new StartPosition(target, startInclusive);
    // Only the broker knows the message at that time; a new attachment starts where the broker is.
    else this.#start = new StartPosition(isDurable ? undefined : MessageId.earliest, true);
    this.#acks.clear();
    this.#redeliveries.clear();
    this.#inbox.clear();
  }

  #createInbox(queueSize: number): Inbox {
    return new Inbox({
      queueSize,
      rules: {
        topic: this.topic,
        messageBytesMax: this.#settings.messageBytesMax,
        isPassed: (delivery, batchIndex) => this.#start.isPassed(delivery, batchIndex),
        onSkipped: (delivery, index) => this.#onSkipped(delivery, index),
      },
      onFlow: (permits) => this.#link.flow(permits),
      onCorrupt: (id, error) => this.#onCorrupt(id, error),
    });
  }

  #onCorrupt(id: MessageIdData, reason: CorruptEntryError): void {
    this.#link.giveBackCorrupt(id, reason.validationError);
    const { topic } = this;
    const messageId = MessageId.of(id);
    const atMs = this.#cluster.timer.now();
    this.#cluster.emit({ type: "discarded", topic, messageId, reason, atMs });
  }

  /** The application never sees a skipped message, so it is acknowledged here. */
  #onSkipped(delivery: Delivery, index: number): void {
    // The consumer was closed meanwhile: the message is redelivered and skipped again.
    this.#acks.ack((pending) => pending.ack(delivery, index)).catch(() => undefined);
  }
}
