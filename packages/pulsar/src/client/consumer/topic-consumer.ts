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
import { AckTracker } from "./ack-tracker.ts";
import { ConsumerLink } from "./consumer-link.ts";
import { isIndividual } from "./consumer-options.ts";
import type { ConsumerSettings } from "./consumer-options.ts";
import type { CorruptEntryError } from "./corrupt-entry-error.ts";
import { DeliveredMessage } from "./delivered-message.ts";
import type { Delivery } from "./delivery.ts";
import { Inbox } from "./inbox.ts";
import type { Received } from "./incoming-entry.ts";
import { Redeliveries } from "./redeliveries.ts";
import { StartPosition } from "./start-position.ts";
import { subscribeCommand } from "./subscribe-command.ts";

/** Who hands the messages out. No method may throw. */
export interface TopicConsumerListener {
  /** There may be something to take. */
  onReady(consumer: TopicConsumer): void;
  /** It will get nothing more, and `close` was not the reason. */
  onEnded(consumer: TopicConsumer, error: SluiceError): void;
}

export interface TopicConsumerOptions {
  /** Its full name; a partition, not a partitioned topic. */
  readonly topic: string;
  readonly queueSize: number;
  readonly listener: TopicConsumerListener;
}

/** Consumes one topic, or one partition of one, from whichever broker has it. */
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
  /** Of a durable subscription it holds until the first message after a seek. */
  #start: StartPosition;
  /** Grows with each redelivery of all: what a broker sent before is marked with a lower one. */
  #epoch = 0n;
  /** While it is set, what comes was sent before that seek took effect: the newest, if several. */
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

  /** Whether the broker sends it messages: of a failover subscription, to one consumer only. */
  get isActive(): boolean {
    return this.#isActive;
  }

  /** The topic was terminated, and all of it has been delivered. */
  get hasReachedEnd(): boolean {
    return this.#hasReachedEnd;
  }

  start(signal?: AbortSignal): Promise<void> {
    return this.#attachment.start(signal);
  }

  /** The next message, if there is one. */
  take(): Received | undefined {
    const received = this.#inbox.take();
    if (received === undefined) return undefined;
    const { isDurable } = this.#settings;
    // Others may move a durable subscription; one that is not goes on here after a lost connection.
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

  /** Messages of which only the ids are known, perhaps from another process. */
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

  /** Asks for all that is not acknowledged, and drops what is queued: it is part of that. */
  redeliverUnacknowledged(): void {
    this.#acks.flush();
    this.#redeliveries.clear();
    if (!isIndividual(this.#settings.type)) this.#epoch++;
    this.#link.redeliverAll(this.#epoch);
    // Afterwards, because permits bring new messages, and those would be sent twice.
    this.#inbox.clear();
  }

  /** To a message, or to the first one that was published at or after an instant. */
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
      // What came meanwhile was dropped.
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

  /** Ends the subscription, and with it this consumer. */
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
    // What is queued will be sent again, so that nobody may take it any more.
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
    // Before the permits: what is acknowledged need not be delivered once more.
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
    // What consumers send is small, and does not wait.
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
    // Where the order counts, single messages cannot come again.
    if (isIndividual(this.#settings.type)) this.#link.redeliver(ids);
    else this.redeliverUnacknowledged();
  }

  /** From now on nothing of before the seek counts. */
  #moveTo(target: MessageId | number, seeking: symbol): void {
    const { isDurable, startInclusive } = this.#settings;
    this.#seeking = seeking;
    this.#hasReachedEnd = false;
    if (target instanceof MessageId) this.#start = new StartPosition(target, startInclusive);
    // Only the broker knows which message that is; attached anew, it goes on from there.
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

  /** Nobody gets to see it, so nobody else will acknowledge it. */
  #onSkipped(delivery: Delivery, index: number): void {
    // Closed meanwhile: then it comes again, and is skipped again.
    this.#acks.ack((pending) => pending.ack(delivery, index)).catch(() => undefined);
  }
}
