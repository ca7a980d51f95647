import type { MessageIdData } from "../../../wire/definition/message-id.ts";
import type { MessageId } from "../../message/message-id.ts";
import { UnackedSet } from "../acknowledge/unacked-set.ts";

/**
 * A delivered entry for the bookkeeping of acknowledgements. All messages of a batch share one; a
 * chunked message has one for all its entries.
 */
export interface Delivery {
  /** `ledger:entry`, unique within the topic. */
  readonly key: string;
  readonly id: MessageIdData;
  /** The entries before the last chunk. They are acknowledged with it. */
  readonly chunkIds: readonly MessageIdData[];
  readonly unacked: UnackedSet;
}

export function entryKey({ ledgerId, entryId }: MessageIdData): string {
  return `${ledgerId}:${entryId}`;
}

/** The id of the entry, without batch index and ack set. */
export function entryIdOf({ ledgerId, entryId, partition }: MessageIdData): MessageIdData {
  return { ledgerId, entryId, partition };
}

/** For an entry of which only the id is known, and perhaps the ids of its earlier chunks. */
export function deliveryOf(messageId: MessageId, chunkIds: readonly MessageId[] = []): Delivery {
  const id = entryIdOf(messageId.toData());
  return {
    key: entryKey(id),
    id,
    chunkIds: chunkIds.map((chunkId) => entryIdOf(chunkId.toData())),
    unacked: new UnackedSet(1),
  };
}
