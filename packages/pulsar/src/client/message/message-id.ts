import { ConfigError } from "@sluice/core";
import { MESSAGE_ID } from "../../wire/definition/message-id.ts";
import type { MessageIdData } from "../../wire/definition/message-id.ts";
import { EARLIEST_ID, LATEST_ID } from "../../wire/constants.ts";
import { shown } from "../check/arguments.ts";

/** Pulsar's value for "no batch" and "no partition". */
const NONE = -1;

interface Within {
  readonly partition?: number | undefined;
  readonly batchIndex?: number | undefined;
  readonly batchSize?: number | undefined;
}

/**
 * The place of a message: ledger, entry, partition and index in its batch. `serialize` gives the bytes
 * of Pulsar's Java client, so that programs in other languages can use the id.
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
  /** Messages in the batch; 0 if there is no batch, or it is not known. */
  readonly batchSize: number;

  constructor(
    ledgerId: bigint,
    entryId: bigint,
    { partition = NONE, batchIndex = NONE, batchSize = 0 }: Within = {},
  ) {
    if (typeof ledgerId !== "bigint" || typeof entryId !== "bigint")
      throw new ConfigError(
        `a MessageId of ${shown(ledgerId)} and ${shown(entryId)} is not possible; use bigints, e.g. new MessageId(7n, 0n)`,
      );
    this.ledgerId = signed(ledgerId);
    this.entryId = signed(entryId);
    this.partition = partition;
    this.batchIndex = batchIndex;
    this.batchSize = batchSize;
  }

  /** Values in `within` replace those of the wire. */
  static of(data: MessageIdData, within: Within = {}): MessageId {
    return new MessageId(data.ledgerId, data.entryId, { ...data, ...within });
  }

  /** Reads the bytes of `serialize`. */
  static deserialize(bytes: Uint8Array): MessageId {
    if (!(bytes instanceof Uint8Array))
      throw new ConfigError(
        `the argument of MessageId.deserialize is ${shown(bytes)}; use the Uint8Array that serialize returned`,
      );
    return MessageId.of(MESSAGE_ID.decode(bytes));
  }

  serialize(): Uint8Array {
    return MESSAGE_ID.encode(this.toData());
  }

  /** As the wire format has it. */
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

  /** Below 0 if this message is before `other`. Compares ids of one topic only. */
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

/** The wire has unsigned ids: -1 is encoded as 2^64 − 1. */
function signed(id: bigint): bigint {
  return id > LATEST_ID ? BigInt.asIntN(64, id) : id;
}
