import type { SluiceError } from "@sluice/core";
import type { Command, CommandOf } from "../../wire/command.ts";
import { isIntact, splitEntry } from "../../wire/entry.ts";
import { decodeFrame } from "../../wire/frame.ts";
import { abortable } from "../wait/abortable.ts";
import { Attachment } from "../attachment/attachment.ts";
import type { AttachmentOwner } from "../attachment/attachment.ts";
import { brokerErrorOf } from "../error/broker-error.ts";
import { ClosedError } from "../error/closed-error.ts";
import type { Cluster } from "../lookup/cluster.ts";
import { ConnectionError } from "../error/connection-error.ts";
import type { Connection, RequestOptions } from "../connection/connection.ts";
import type { MessageId } from "../message/message-id.ts";
import { withTimeLimit } from "../wait/time-limit.ts";
import { prepare } from "./outgoing-message.ts";
import type { OutgoingMessage } from "./outgoing-message.ts";
import { Outbox } from "./outbox.ts";
import { pack, requirePayloadFits } from "./parcel.ts";
import type { Parcel } from "./parcel.ts";
import type { PendingSend } from "./pending-sends.ts";
import type { ProducerSettings } from "./producer-options.ts";
import type { Producer, SendOptions } from "./producer.ts";
import type { SendRoom } from "./send-room.ts";

/** Which topic, of a partitioned one which part, and with whom it shares its room. */
export interface TopicShare {
  readonly topic: string;
  /** -1 if the topic is not partitioned. */
  readonly partition: number;
  readonly room: SendRoom;
}

/** The producer of a topic that is not partitioned, or of one partition. */
export class TopicProducer implements Producer {
  readonly topic: string;
  readonly #cluster: Cluster;
  readonly #settings: ProducerSettings;
  readonly #share: TopicShare;
  readonly #id: bigint;
  readonly #attachment: Attachment;
  readonly #outbox: Outbox;
  #name: string;
  #topicEpoch: bigint | undefined;
  #openings = 0n;
  #messageBytesMax = 0;
  #messagesToResend = 0;
  #closing: Promise<void> | undefined;

  private constructor(cluster: Cluster, settings: ProducerSettings, share: TopicShare) {
    const { batching, sendTimeoutMs } = settings;
    const { topic, room } = share;
    this.topic = topic;
    this.#cluster = cluster;
    this.#settings = settings;
    this.#share = share;
    this.#id = cluster.takeProducerId();
    this.#name = settings.name ?? "";
    const toSends = (parcel: Parcel): readonly PendingSend[] => this.#pack(parcel);
    this.#outbox = new Outbox(cluster.timer, { room, batching, sendTimeoutMs, pack: toSends });
    const options = { role: "producer", id: this.#id, topic } as const;
    this.#attachment = new Attachment(cluster, this.#owner(), options);
  }

  /** Resolves once the broker has taken it on. */
  static async open(
    cluster: Cluster,
    settings: ProducerSettings,
    { signal, ...share }: TopicShare & { readonly signal?: AbortSignal | undefined },
  ): Promise<TopicProducer> {
    const producer = new TopicProducer(cluster, settings, share);
    await producer.#attachment.start(signal);
    return producer;
  }

  get name(): string {
    return this.#name;
  }

  get lastSequenceId(): bigint {
    return this.#outbox.lastSequenceId;
  }

  get pendingMessages(): number {
    return this.#share.room.messages;
  }

  get isClosed(): boolean {
    return this.#closing !== undefined || this.#outbox.isEnded;
  }

  /** Whether a batch has been begun that the next message would join. */
  get isGathering(): boolean {
    return this.#outbox.isGathering;
  }

  send(message: OutgoingMessage, { signal }: SendOptions = {}): Promise<MessageId> {
    try {
      signal?.throwIfAborted();
      if (this.#closing !== undefined) throw new ClosedError("the producer is closed");
      const prepared = prepare(message, this.#cluster.wallClock);
      const { compression, isChunking } = this.#settings;
      if (compression.name === "none" && !isChunking)
        requirePayloadFits(prepared.payload.length, this.#messageBytesMax);
      return this.#outbox.send(prepared, signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  flush(): Promise<void> {
    return this.#outbox.flush();
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const { timer, operationTimeoutMs } = this.#cluster;
    // What has not been stored by then is failed below.
    await withTimeLimit(timer, { ms: operationTimeoutMs, what: "closing" }, (signal) =>
      abortable(this.#outbox.flush(), signal),
    ).catch(() => undefined);
    this.#outbox.end(new ClosedError("the producer is closed"));
    await this.#attachment.close();
  }

  #pack(parcel: Parcel): readonly PendingSend[] {
    return pack(parcel, {
      producerId: this.#id,
      producerName: this.#name,
      publishTimeMs: this.#cluster.wallClock.now(),
      compression: this.#settings.compression,
      messageBytesMax: this.#messageBytesMax,
      isChunking: this.#settings.isChunking,
      partition: this.#share.partition,
    });
  }

  #owner(): AttachmentOwner {
    return {
      open: (connection, options) => this.#open(connection, options),
      onCommand: (command) => this.#onCommand(command),
      onDrain: () => this.#outbox.pump(),
      onAttached: (connection) => this.#onAttached(connection),
      onDetached: () => {
        this.#messagesToResend = this.#outbox.detach();
      },
      onEnded: (error) => this.#outbox.end(error),
    };
  }

  async #open(connection: Connection, options: RequestOptions): Promise<void> {
    const { accessMode, name, properties, initialSequenceId } = this.#settings;
    const epoch = this.#openings++;
    const answer = await connection.request(
      "producerSuccess",
      (requestId) => ({
        kind: "producer",
        body: {
          topic: this.topic,
          producerId: this.#id,
          requestId,
          // The name that the broker gave stays ours, also with the next broker.
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
      this.#outbox.nextSequenceId = initialSequenceId ?? (answer.lastSequenceId ?? -1n) + 1n;
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
    this.#outbox.attach(connection);
  }

  #onCommand(command: Command): void {
    if (command.kind === "sendReceipt") {
      const { sequenceId, highestSequenceId, messageId } = command.body;
      this.#outbox.onReceipt(sequenceId, highestSequenceId, messageId);
    } else if (command.kind === "sendError") this.#onSendError(command);
  }

  #onSendError({ body }: CommandOf<"sendError">): void {
    const refusal = brokerErrorOf(body.error, body.message);
    const { serverError } = refusal;
    if (serverError === "TopicTerminatedError") this.#attachment.end(refusal);
    else if (serverError === "NotAllowedError") this.#outbox.refuseFirst(body.sequenceId, refusal);
    else if (serverError === "ChecksumError") this.#onChecksumError(body.sequenceId, refusal);
    else this.#sendAgain(refusal);
  }

  /** Broken on the way, it can be sent again; broken here, it would be refused for ever. */
  #onChecksumError(sequenceId: bigint, refusal: SluiceError): void {
    const first = this.#outbox.first;
    const isBroken = first !== undefined && !isIntact(splitEntry(decodeFrame(first.frame).entry));
    if (isBroken) this.#outbox.refuseFirst(sequenceId, refusal);
    else this.#sendAgain(refusal);
  }

  /** Only a new connection makes sure that the broker has forgotten what came after. */
  #sendAgain(refusal: SluiceError): void {
    const again = new ConnectionError("the broker could not store a message", { cause: refusal });
    this.#attachment.connection?.close(again);
  }
}
