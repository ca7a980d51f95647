import { MESSAGE_ID } from "../definition/message-id.ts";
import type { MessageIdData } from "../definition/message-id.ts";
import type { CommandSendReceipt } from "../definition/producer.ts";
import type { Codec } from "../message.ts";

const PRODUCER_ID = (1 << 3) | 0;
const SEQUENCE_ID = (2 << 3) | 0;
const MESSAGE_ID_TAG = (3 << 3) | 2;
const HIGHEST_SEQUENCE_ID = (4 << 3) | 0;

export const sendReceiptCodec = (
  defined: Codec<CommandSendReceipt>,
): Codec<CommandSendReceipt> => ({
  decodeFrom(reader) {
    const start = reader.offset;
    let producerId: bigint | undefined;
    let sequenceId: bigint | undefined;
    let messageId: MessageIdData | undefined;
    let highestSequenceId: bigint | undefined;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag === PRODUCER_ID) producerId = reader.uint64();
      else if (tag === SEQUENCE_ID) sequenceId = reader.uint64();
      else if (tag === MESSAGE_ID_TAG) messageId = MESSAGE_ID.read(reader);
      else if (tag === HIGHEST_SEQUENCE_ID) highestSequenceId = reader.uint64();
      else return defined.decodeFrom(reader.rewind(start));
    }
    if (producerId === undefined || sequenceId === undefined)
      return defined.decodeFrom(reader.rewind(start));
    return { producerId, sequenceId, messageId, highestSequenceId };
  },

  encodeInto(writer, receipt) {
    if (receipt.unknown !== undefined) {
      defined.encodeInto(writer, receipt);
      return;
    }
    writer.uint32(PRODUCER_ID);
    writer.uint64(receipt.producerId);
    writer.uint32(SEQUENCE_ID);
    writer.uint64(receipt.sequenceId);
    if (receipt.messageId !== undefined) {
      writer.uint32(MESSAGE_ID_TAG);
      MESSAGE_ID.write(writer, receipt.messageId);
    }
    if (receipt.highestSequenceId !== undefined) {
      writer.uint32(HIGHEST_SEQUENCE_ID);
      writer.uint64(receipt.highestSequenceId);
    }
  },
});
