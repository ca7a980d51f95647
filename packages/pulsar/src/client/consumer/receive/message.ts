import type { MessageId } from "../../message/message-id.ts";

/** Names a message: a `Message` does, and so does an `UnreadableMessageError`. */
export interface MessageRef {
  readonly topic: string;
  readonly messageId: MessageId;
  /** For a chunked message: the entries before the last chunk, which are acknowledged with it. */
  readonly chunkIds?: readonly MessageId[] | undefined;
}

/**
 * A received message. `data` is a view of the frame, which stays in memory as long as the message.
 */
export interface Message {
  readonly messageId: MessageId;
  /** The full name, with the partition if there is one. */
  readonly topic: string;
  /** Empty if the value is null. */
  readonly data: Buffer;
  /** Whether the value is null; compaction then removes the key. */
  readonly isNull: boolean;
  readonly key: string | undefined;
  /** The key as bytes: decoded from base64 if the producer gave bytes. */
  readonly keyBytes: Buffer | undefined;
  readonly orderingKey: Buffer | undefined;
  readonly properties: Readonly<Record<string, string>>;
  readonly producerName: string;
  readonly sequenceId: bigint;
  /** By the producer's wall clock, in ms since 1970. */
  readonly publishTimeMs: number;
  /** The application's event time in ms since 1970, if the producer set one. */
  readonly eventTimeMs: number | undefined;
  /** Deliveries before this one, as counted by the broker. */
  readonly redeliveryCount: number;
  readonly schemaVersion: Buffer | undefined;
}
