import { MESSAGE_ID } from "../../wire/definition/message-id.ts";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { EARLIEST_ID, LATEST_ID } from "../../wire/constants.ts";

/** Where in a batch, or in which partition: for what is in none. */
const NONE = -1;

interface Within {
  readonly partition?: number | undefined;
  readonly batchIndex?: number | undefined;
  readonly batchSize?: number | undefined;
}

/**
 * Where a message is stored. The bytes of `serialize` are those of Pulsar's Java client, so that an
 * id can be kept by one program and used by another.
 */
export class MessageId {
  /** Before the first message of a topic. */
  static readonly earliest: MessageId = new MessageId(EARLIEST_ID, EARLIEST_ID);
  /** After the last message of a topic. */
  static readonly latest: MessageId = new MessageId(LATEST_ID, LATEST_ID);

  readonly ledgerId: bigint;
  readonly entryId: bigint;
  /** -1 if the topic is not partitioned. */
  readonly partition: number;
  /** -1 if the message is in no batch. */
  readonly batchIndex: number;
  /** Messages in its batch; 0 if it is in none, or not known. */
  readonly batchSize: number;

  constructor(
    ledgerId: bigint,
    entryId: bigint,
    { partition = NONE, batchIndex = NONE, batchSize = 0 }: Within = {},
  ) {
    this.ledgerId = signed(ledgerId);
    this.entryId = signed(entryId);
    this.partition = partition;
    this.batchIndex = batchIndex;
    this.batchSize = batchSize;
  }

  /** What `within` says wins over what the wire says. */
  static of(data: MessageIdData, within: Within = {}): MessageId {
    return new MessageId(data.ledgerId, data.entryId, { ...data, ...within });
  }

  static deserialize(bytes: Uint8Array): MessageId {
    return MessageId.of(MESSAGE_ID.decode(bytes));
  }

  serialize(): Uint8Array {
    return MESSAGE_ID.encode(this.toData());
  }

  /** As the wire has it. */
  toData(): MessageIdData {
    const { ledgerId, entryId, partition, batchIndex, batchSize } = this;
    return {
      ledgerId: BigInt.asUintN(64, ledgerId),
      entryId: BigInt.asUintN(64, entryId),
      partition: partition === NONE ? undefined : partition,
      batchIndex: batchIndex === NONE ? undefined : batchIndex,
      batchSize: batchSize === 0 ? undefined : batchSize,
    };
  }

  /** Less than 0 if this message is before the other. Only ids of one topic compare. */
  compare(other: MessageId): number {
    if (this.ledgerId !== other.ledgerId) return this.ledgerId < other.ledgerId ? -1 : 1;
    if (this.entryId !== other.entryId) return this.entryId < other.entryId ? -1 : 1;
    return this.batchIndex - other.batchIndex || this.partition - other.partition;
  }

  equals(other: MessageId): boolean {
    return this.compare(other) === 0;
  }

  toString(): string {
    const entry = `${this.ledgerId}:${this.entryId}:${this.partition}`;
    return this.batchIndex === NONE ? entry : `${entry}:${this.batchIndex}`;
  }
}

/** The wire has no negative ids: -1 comes as 2^64 - 1. */
function signed(id: bigint): bigint {
  return id > LATEST_ID ? BigInt.asIntN(64, id) : id;
}
