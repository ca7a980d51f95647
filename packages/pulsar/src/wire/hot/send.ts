import type { CommandSend } from "../definition/producer.ts";
import type { Codec } from "../message.ts";

const PRODUCER_ID = (1 << 3) | 0;
const SEQUENCE_ID = (2 << 3) | 0;
const NUM_MESSAGES = (3 << 3) | 0;
const HIGHEST_SEQUENCE_ID = (6 << 3) | 0;

/** Transactions, chunks and replication are rare and left to `defined`. */
export const sendCodec = (defined: Codec<CommandSend>): Codec<CommandSend> => ({
  decodeFrom(reader) {
    const start = reader.offset;
    let producerId: bigint | undefined;
    let sequenceId: bigint | undefined;
    let numMessages: number | undefined;
    let highestSequenceId: bigint | undefined;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag === PRODUCER_ID) producerId = reader.uint64();
      else if (tag === SEQUENCE_ID) sequenceId = reader.uint64();
      else if (tag === NUM_MESSAGES) numMessages = reader.int32();
      else if (tag === HIGHEST_SEQUENCE_ID) highestSequenceId = reader.uint64();
      else return defined.decodeFrom(reader.rewind(start));
    }
    if (producerId === undefined || sequenceId === undefined)
      return defined.decodeFrom(reader.rewind(start));
    return { producerId, sequenceId, numMessages, highestSequenceId };
  },

  encodeInto(writer, send) {
    if (
      send.txnidLeastBits !== undefined ||
      send.txnidMostBits !== undefined ||
      send.isChunk !== undefined ||
      send.marker !== undefined ||
      send.messageId !== undefined ||
      send.unknown !== undefined
    ) {
      defined.encodeInto(writer, send);
      return;
    }
    writer.uint32(PRODUCER_ID);
    writer.uint64(send.producerId);
    writer.uint32(SEQUENCE_ID);
    writer.uint64(send.sequenceId);
    if (send.numMessages !== undefined) {
      writer.uint32(NUM_MESSAGES);
      writer.int32(send.numMessages);
    }
    if (send.highestSequenceId !== undefined) {
      writer.uint32(HIGHEST_SEQUENCE_ID);
      writer.uint64(send.highestSequenceId);
    }
  },
});
