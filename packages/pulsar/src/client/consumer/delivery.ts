import type { MessageIdData } from "../../wire/definition/message-id.ts";
import type { MessageId } from "../message/message-id.ts";
import { UnackedSet } from "./unacked-set.ts";

/**
 * An entry that a broker delivered, as its acknowledgements see it. All messages of a batch share
 * one; a message that came in chunks has one for all its entries.
 */
export interface Delivery {
  /** Names the entry within its topic. */
  readonly key: string;
  readonly id: MessageIdData;
  /** If it came in chunks: the entries before it. They are acknowledged with it. */
  readonly chunkIds: readonly MessageIdData[];
  readonly unacked: UnackedSet;
}

export function entryKey({ ledgerId, entryId }: MessageIdData): string {
  return `${ledgerId}:${entryId}`;
}

/** The entry alone: no batch, no acknowledgements. */
export function entryIdOf({ ledgerId, entryId, partition }: MessageIdData): MessageIdData {
  return { ledgerId, entryId, partition };
}

/** Of an entry of which only an id is known, and perhaps the chunks before it. */
export function deliveryOf(messageId: MessageId, chunkIds: readonly MessageId[] = []): Delivery {
  const id = entryIdOf(messageId.toData());
  return {
    key: entryKey(id),
    id,
    chunkIds: chunkIds.map((chunkId) => entryIdOf(chunkId.toData())),
    unacked: new UnackedSet(1),
  };
}
