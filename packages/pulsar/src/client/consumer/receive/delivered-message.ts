import type { KeyValue } from "../../../wire/definition/key-value.ts";
import type { MessageMetadata, SingleMessageMetadata } from "../../../wire/definition/metadata.ts";
import { bufferOf } from "../../../wire/message.ts";
import { MessageId } from "../../message/message-id.ts";
import type { Delivery } from "./delivery.ts";
import type { Message } from "./message.ts";

/** What all messages of an entry share. */
export interface EntryContext {
  readonly topic: string;
  readonly delivery: Delivery;
  readonly metadata: MessageMetadata;
  readonly redeliveryCount: number;
}

/** The place of a message in its batch, and its metadata there. */
export interface PlaceInBatch {
  readonly index: number;
  readonly metadata: SingleMessageMetadata;
}

/**
 * A received message with what its acknowledgement needs. Rarely used properties are computed on
 * demand.
 */
export class DeliveredMessage implements Message {
  readonly data: Buffer;
  readonly #entry: EntryContext;
  readonly #place: PlaceInBatch | undefined;
  #messageId: MessageId | undefined;
  #properties: Readonly<Record<string, string>> | undefined;

  constructor(entry: EntryContext, data: Buffer, place?: PlaceInBatch) {
    this.data = data;
    this.#entry = entry;
    this.#place = place;
  }

  get delivery(): Delivery {
    return this.#entry.delivery;
  }

  /** Index within the entry; 0 outside of a batch. */
  get index(): number {
    return this.#place?.index ?? 0;
  }

  get messageId(): MessageId {
    this.#messageId ??= idWithin(this.delivery, this.#place?.index);
    return this.#messageId;
  }

  get topic(): string {
    return this.#entry.topic;
  }

  get isNull(): boolean {
    return this.#own.nullValue === true;
  }

  get key(): string | undefined {
    return this.#own.nullPartitionKey === true ? undefined : this.#own.partitionKey;
  }

  get keyBytes(): Buffer | undefined {
    const { key } = this;
    if (key === undefined) return undefined;
    return Buffer.from(key, this.#own.partitionKeyB64Encoded === true ? "base64" : "utf8");
  }

  get orderingKey(): Buffer | undefined {
    return viewOf(this.#own.orderingKey);
  }

  get properties(): Readonly<Record<string, string>> {
    this.#properties ??= recordOf(this.#own.properties ?? []);
    return this.#properties;
  }

  get producerName(): string {
    return this.#entry.metadata.producerName;
  }

  get sequenceId(): bigint {
    const first = this.#entry.metadata.sequenceId;
    return this.#place?.metadata.sequenceId ?? first + BigInt(this.index);
  }

  get publishTimeMs(): number {
    return Number(this.#entry.metadata.publishTime);
  }

  get eventTimeMs(): number | undefined {
    const { eventTime } = this.#own;
    // Pulsar's clients write 0 for no event time.
    return eventTime === undefined || eventTime === 0n ? undefined : Number(eventTime);
  }

  get redeliveryCount(): number {
    return this.#entry.redeliveryCount;
  }

  get schemaVersion(): Buffer | undefined {
    return viewOf(this.#entry.metadata.schemaVersion);
  }

  /** A batched message has its own metadata for the fields that can differ. */
  get #own(): MessageMetadata | SingleMessageMetadata {
    return this.#place?.metadata ?? this.#entry.metadata;
  }
}

/** Without an index, the id of the whole entry. */
function idWithin({ id, unacked }: Delivery, index: number | undefined): MessageId {
  if (index === undefined) return MessageId.of(id);
  return MessageId.of(id, { batchIndex: index, batchSize: unacked.size });
}

function viewOf(bytes: Uint8Array | undefined): Buffer | undefined {
  return bytes === undefined ? undefined : bufferOf(bytes);
}

function recordOf(properties: readonly KeyValue[]): Readonly<Record<string, string>> {
  return Object.fromEntries(properties.map(({ key, value }) => [key, value]));
}
