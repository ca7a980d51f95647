import type { SluiceError } from "@sluice/core";
import type { Command, CommandOf } from "../../wire/command.ts";
import { isIntact, splitEntry } from "../../wire/entry.ts";
import { decodeFrame } from "../../wire/frame.ts";
import { requireSignalOptions } from "../check/arguments.ts";
import { abortable } from "../wait/abortable.ts";
import { Attachment } from "../attachment/attachment.ts";
import type { AttachmentOwner } from "../attachment/attachment.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import type { MessageId } from "../message/message-id.ts";
import { withDeadline } from "../wait/with-deadline.ts";
import { prepare } from "./send/outgoing-message.ts";
import type { OutgoingMessage } from "./send/outgoing-message.ts";
import type { PartitionState } from "./router.ts";
import { encodeSends, requirePayloadFits } from "./send/send-frames.ts";
import type { SendBatch } from "./send/send-frames.ts";
import { SendQueue } from "./send/send-queue.ts";
import type { PendingSend } from "./send/pending-sends.ts";
import type { ProducerSettings } from "./producer-options.ts";
import type { CloseOptions, Producer, ProducerStats, SendOptions } from "./producer.ts";
import type { PartitionRoom } from "./send/send-room.ts";
import { ProducerThrottle } from "./throttle/producer-throttle.ts";
import type { Throttling } from "./throttle/producer-throttle.ts";

export interface TopicProducerOptions {
  /** The full name of a topic without partitions, or of one partition. */
  readonly topic: string;
  /** -1 if the topic is not partitioned. */
  readonly partition: number;
  readonly room: PartitionRoom;
}

/** Publishes to a topic without partitions, or to one partition. */
export class TopicProducer implements Producer {
  readonly topic: string;
  readonly #cluster: Cluster;
  readonly #settings: ProducerSettings;
  readonly #options: TopicProducerOptions;
  readonly #id: bigint;
  readonly #attachment: Attachment;
  readonly #throttle: ProducerThrottle;
  readonly #queue: SendQueue;
  #name: string;
  #topicEpoch: bigint | undefined;
  #openings = 0n;
  #messageBytesMax = 0;
  #messagesToResend = 0;
  #closing: Promise<void> | undefined;

  private constructor(cluster: Cluster, settings: ProducerSettings, options: TopicProducerOptions) {
    const { batching, sendTimeoutMs } = settings;
    const { topic, room } = options;
    this.topic = topic;
    this.#cluster = cluster;
    this.#settings = settings;
    this.#options = options;
    this.#id = cluster.takeProducerId();
    this.#name = settings.name ?? "";
    this.#throttle = new ProducerThrottle(cluster, topic, () => this.#queue.pump());
    this.#queue = new SendQueue(cluster.timer, {
      topic,
      room,
      gate: this.#throttle,
      batching,
      sendTimeoutMs,
      encode: (batch) => this.#encode(batch),
      onStuck: (messages, waitedMs) => {
        const atMs = cluster.timer.now();
        cluster.emit({ type: "stuck", topic, messages, waitedMs, atMs });
      },
      onTimedOut: (messages) => {
        const atMs = cluster.timer.now();
        cluster.emit({ type: "timedOut", topic, messages, sendTimeoutMs, atMs });
      },
    });
    this.#attachment = new Attachment(cluster, this.#owner(), {
      role: "producer",
      id: this.#id,
      topic,
    });
  }

  /** Resolves once the producer is attached. */
  static async open(
    cluster: Cluster,
    settings: ProducerSettings,
    { signal, ...options }: TopicProducerOptions & { readonly signal?: AbortSignal | undefined },
  ): Promise<TopicProducer> {
    const producer = new TopicProducer(cluster, settings, options);
    await producer.#attachment.start(signal);
    return producer;
  }

  get name(): string {
    return this.#name;
  }

  get lastSequenceId(): bigint {
    return this.#queue.lastSequenceId;
  }

  get pendingMessages(): number {
    return this.#options.room.messages;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined || this.#queue.isEnded;
  }

  get isThrottled(): boolean {
    return this.pauseLeftMs > 0;
  }

  get throttling(): Throttling | undefined {
    return this.#throttle.throttling;
  }

  /** 0 if SENDs may be written. */
  get pauseLeftMs(): number {
    return this.#throttle.pauseLeftMs;
  }

  get state(): PartitionState {
    if (this.isThrottled) return "throttled";
    if (this.#queue.isFull) return "full";
    return this.#queue.isGathering ? "gathering" : "free";
  }

  send(message: OutgoingMessage, options?: SendOptions): Promise<MessageId> {
    try {
      if (options !== undefined) requireSignalOptions("send(message, { signal })", options);
      const signal = options?.signal;
      signal?.throwIfAborted();
      if (this.#closing !== undefined) throw this.#closedError();
      const prepared = prepare(message, this.#cluster.wallClock);
      const { compression, isChunking } = this.#settings;
      if (compression.name === "none" && !isChunking)
        requirePayloadFits(prepared.payload.length, this.#messageBytesMax);
      return this.#queue.send(prepared, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  stats(): ProducerStats {
    return { throttledMs: Object.fromEntries(this.#throttle.throttledMsByReason) };
  }

  flush(): Promise<void> {
    return this.#queue.flush();
  }

  async close(options?: CloseOptions): Promise<void> {
    requireSignalOptions("close({ signal })", options);
    this.#closing ??= this.#close(options?.signal);
    await this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #closedError(): ClosedError {
    return new ClosedError(`the producer of ${this.topic} is closed; create another`);
  }

  async #close(signal: AbortSignal | undefined): Promise<void> {
    const { timer, operationTimeoutMs } = this.#cluster;
    // Messages that are not stored in time fail below.
    await withDeadline(
      timer,
      { ms: operationTimeoutMs, signal, what: `closing the producer of ${this.topic}` },
      (ended) => abortable(this.#queue.flush(), ended),
    ).catch(() => undefined);
    this.#queue.end(this.#closedError());
    await this.#attachment.close(signal);
    this.#throttle.reset();
  }

  #encode(batch: SendBatch): readonly PendingSend[] {
    return encodeSends(batch, {
      producerId: this.#id,
      producerName: this.#name,
      publishTimeMs: this.#cluster.wallClock.now(),
      compression: this.#settings.compression,
      messageBytesMax: this.#messageBytesMax,
      isChunking: this.#settings.isChunking,
      partition: this.#options.partition,
    });
  }

  #owner(): AttachmentOwner {
    return {
      open: (connection, options) => this.#open(connection, options),
      onCommand: (command) => this.#onCommand(command),
      onThrottle: (command) => this.#throttle.onCommand(command, this.#queue.messagesInFlight),
      onDrain: () => this.#queue.pump(),
      onAttached: (connection) => this.#onAttached(connection),
      onDetached: () => {
        this.#messagesToResend = this.#queue.detach();
        this.#throttle.reset();
      },
      onEnded: (error) => {
        this.#queue.end(error);
        this.#throttle.reset();
      },
    };
  }

  async #open(connection: Connection, options: RequestOptions): Promise<void> {
    const { accessMode, name, properties, initialSequenceId } = this.#settings;
    const epoch = this.#openings++;
    // The attempt before may have been throttled and then failed.
    this.#throttle.reset();
    const answer = await connection.request(
      "producerSuccess",
      (requestId) => ({
        kind: "producer",
        body: {
          topic: this.topic,
          producerId: this.#id,
          requestId,
          // The name that the first broker gave is kept for the next one.
          producerName: this.#name === "" ? undefined : this.#name,
          userProvidedProducerName: name !== undefined,
          metadata: properties,
          epoch,
          producerAccessMode: accessMode,
          topicEpoch: this.#topicEpoch,
        },
      }),
      options,
    );
    const isFirst = this.#messageBytesMax === 0;
    if (isFirst)
      this.#queue.nextSequenceId = initialSequenceId ?? (answer.lastSequenceId ?? -1n) + 1n;
    this.#name = answer.producerName;
    this.#topicEpoch = answer.topicEpoch ?? this.#topicEpoch;
    this.#messageBytesMax = connection.messageBytesMax;
  }

  #onAttached(connection: Connection): void {
    const messages = this.#messagesToResend;
    this.#messagesToResend = 0;
    if (messages > 0) {
      const atMs = this.#cluster.timer.now();
      this.#cluster.emit({ type: "resent", topic: this.topic, messages, atMs });
    }
    this.#queue.attach(connection);
  }

  #onCommand(command: Command): void {
    if (command.kind === "sendReceipt") {
      const { sequenceId, highestSequenceId, messageId } = command.body;
      this.#queue.onReceipt(sequenceId, highestSequenceId, messageId);
    } else if (command.kind === "sendError") this.#onSendError(command);
  }

  #onSendError({ body }: CommandOf<"sendError">): void {
    const refusal = brokerErrorOf(body.error, body.message);
    const { serverError } = refusal;
    if (serverError === "TopicTerminatedError") this.#attachment.end(refusal);
    else if (serverError === "NotAllowedError") this.#queue.refuseFirst(body.sequenceId, refusal);
    else if (serverError === "ChecksumError") this.#onChecksumError(body.sequenceId, refusal);
    else this.#sendAgain(refusal);
  }

  /** A SEND damaged on the network is sent again; one damaged in this process would be refused for ever. */
  #onChecksumError(sequenceId: bigint, refusal: SluiceError): void {
    const first = this.#queue.first;
    const isBroken = first !== undefined && !isIntact(splitEntry(decodeFrame(first.frame).entry));
    if (isBroken) this.#queue.refuseFirst(sequenceId, refusal);
    else this.#sendAgain(refusal);
  }

  /** On a new connection, because the broker then drops the SENDs behind the refused one. */
  #sendAgain(refusal: SluiceError): void {
    const again = new ConnectionError(`the broker could not store a message of ${this.topic}`, {
      cause: refusal,
    });
    this.#attachment.connection?.close(again);
  }
}
