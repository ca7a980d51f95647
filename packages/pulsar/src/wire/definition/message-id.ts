import {
  int32,
  int64,
  lazy,
  message,
  optional,
  repeated,
  required,
  uint64,
  writtenOut,
} from "../message.ts";
import { messageIdCodec } from "../hot/message-id.ts";
import type { MessageType, WithUnknown } from "../message.ts";

/** The position of a message: ledger, entry, and index in the batch. */
export interface MessageIdData extends WithUnknown {
  readonly ledgerId: bigint;
  readonly entryId: bigint;
  /** -1 or undefined for a topic without partitions. */
  readonly partition?: number | undefined;
  /** -1 or undefined for a whole entry. */
  readonly batchIndex?: number | undefined;
  /** Of a batch: bit n % 64 of word n ÷ 64 is set while message n is not acknowledged. */
  readonly ackSet?: readonly bigint[] | undefined;
  readonly batchSize?: number | undefined;
  readonly firstChunk?: MessageIdData | undefined;
}

export const MESSAGE_ID: MessageType<MessageIdData> = writtenOut(
  message("MessageIdData", {
    ledgerId: required(1, uint64),
    entryId: required(2, uint64),
    partition: optional(3, int32),
    batchIndex: optional(4, int32),
    ackSet: repeated(5, int64),
    batchSize: optional(6, int32),
    firstChunk: optional(
      7,
      lazy(() => MESSAGE_ID),
    ),
  }),
  messageIdCodec,
);
