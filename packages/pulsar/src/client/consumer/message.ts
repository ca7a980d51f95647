import type { MessageId } from "../message/message-id.ts";

/** A message, or what names one: an `UnreadableMessageError` does. */
export interface MessageRef {
  readonly topic: string;
  readonly messageId: MessageId;
  /** If it came in chunks: the entries before its last, which are acknowledged with it. */
  readonly chunkIds?: readonly MessageId[] | undefined;
}

/** A message as a consumer receives it. Its bytes are a view of all that came with it. */
export interface Message {
  readonly messageId: MessageId;
  /** With the partition, if it has one. */
  readonly topic: string;
  /** Empty if the value is null. */
  readonly data: Buffer;
  /** Whether the value is null, which for a compacted topic deletes its key. */
  readonly isNull: boolean;
  readonly key: string | undefined;
  /** What the key's text stands for, if it was bytes. */
  readonly keyBytes: Buffer | undefined;
  readonly orderingKey: Buffer | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly producerName: string;
  readonly sequenceId: bigint;
  /** When its producer sent it, by that producer's wall clock. */
  readonly publishTimeMs: number;
  /** When what it tells happened, if its producer said so. */
  readonly eventTimeMs: number | undefined;
  /** How often it was delivered before, as far as the broker remembers. */
  readonly redeliveryCount: number;
  readonly schemaVersion: Buffer | undefined;
}
