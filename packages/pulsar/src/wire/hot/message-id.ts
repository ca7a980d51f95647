import type { MessageIdData } from "../definition/message-id.ts";
import type { Codec } from "../message.ts";

const LEDGER_ID = (1 << 3) | 0;
const ENTRY_ID = (2 << 3) | 0;
const PARTITION = (3 << 3) | 0;
const BATCH_INDEX = (4 << 3) | 0;

/** Ids with ack sets or chunks are rare and left to `defined`. */
export const messageIdCodec = (defined: Codec<MessageIdData>): Codec<MessageIdData> => ({
  decodeFrom(reader) {
    const start = reader.offset;
    let ledgerId: bigint | undefined;
    let entryId: bigint | undefined;
    let partition: number | undefined;
    let batchIndex: number | undefined;
    while (!reader.isAtEnd) {
      const tag = reader.tag();
      if (tag === LEDGER_ID) ledgerId = reader.uint64();
      else if (tag === ENTRY_ID) entryId = reader.uint64();
      else if (tag === PARTITION) partition = reader.int32();
      else if (tag === BATCH_INDEX) batchIndex = reader.int32();
      else return defined.decodeFrom(reader.rewind(start));
    }
    if (ledgerId === undefined || entryId === undefined)
      return defined.decodeFrom(reader.rewind(start));
    return { ledgerId, entryId, partition, batchIndex };
  },

  encodeInto(writer, id) {
    if (
      id.ackSet !== undefined ||
      id.batchSize !== undefined ||
      id.firstChunk !== undefined ||
      id.unknown !== undefined
    ) {
      defined.encodeInto(writer, id);
      return;
    }
    writer.uint32(LEDGER_ID);
    writer.uint64(id.ledgerId);
    writer.uint32(ENTRY_ID);
    writer.uint64(id.entryId);
    if (id.partition !== undefined) {
      writer.uint32(PARTITION);
      writer.int32(id.partition);
    }
    if (id.batchIndex !== undefined) {
      writer.uint32(BATCH_INDEX);
      writer.int32(id.batchIndex);
    }
  },
});
