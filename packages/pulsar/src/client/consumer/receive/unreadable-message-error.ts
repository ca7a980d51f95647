import { SluiceError } from "@sluice/core";
import type { MessageId } from "../../message/message-id.ts";
import type { MessageRef } from "./message.ts";

/**
 * A received message cannot be decoded: it is encrypted, larger than `messageBytesMax`, or of a
 * compression that this Node lacks. It is not acknowledged; acknowledge the error to skip the
 * message.
 */
export class UnreadableMessageError extends SluiceError implements MessageRef {
  override readonly name = "UnreadableMessageError";
  readonly code = "PROTOCOL";
  readonly topic: string;
  readonly messageId: MessageId;
  readonly chunkIds: readonly MessageId[];

  constructor(
    message: string,
    { topic, messageId, chunkIds = [] }: MessageRef,
    options?: ErrorOptions,
  ) {
    super(`message ${messageId.toString()} of ${topic} ${message}`, options);
    this.topic = topic;
    this.messageId = messageId;
    this.chunkIds = chunkIds;
  }
}
