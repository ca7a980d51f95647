import { SluiceError } from "@sluice/core";
import type { MessageId } from "../message/message-id.ts";
import type { MessageRef } from "./message.ts";

/**
 * A message came whole, but this client cannot read it: it is encrypted, larger than allowed, or
 * cannot be uncompressed, for example because this Node does not know how. It is not acknowledged;
 * whoever does not want to meet it again acknowledges the error.
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
