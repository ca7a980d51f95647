import type { Position } from "../storage/position.ts";
import type { StoredEntry } from "../storage/log/topic-log.ts";

/** Words of 64 bits, lowest first. A bit that is set: that message of the batch is not acknowledged. */
export type AckSet = readonly bigint[];

/** One entry on its way to one consumer. */
export interface Delivery {
  readonly position: Position;
  /** A view that must not be written to. */
  readonly bytes: Uint8Array;
  readonly messageCount: number;
  readonly publishedAtMs: number;
  /** How often it was delivered before and came back. Always 0 unless the subscription is shared. */
  readonly redeliveryCount: number;
  /** Absent if no message of the batch is acknowledged. */
  readonly ackSet: AckSet | undefined;
}

/** A whole entry, or those messages of it whose bits are not set. */
export interface Ack {
  readonly position: Position;
  readonly ackSet?: AckSet | undefined;
}

export function deliveryOf(
  { position, bytes, messageCount, publishedAtMs }: StoredEntry,
  { redeliveryCount, ackSet }: Pick<Delivery, "redeliveryCount" | "ackSet">,
): Delivery {
  return { position, bytes, messageCount, publishedAtMs, redeliveryCount, ackSet };
}

/** Messages of an entry that are delivered with it: those that are not acknowledged. */
export function messagesLeft(messageCount: number, ackSet: AckSet | undefined): number {
  if (ackSet === undefined) return messageCount;
  let left = 0;
  for (let index = 0; index < messageCount; index++)
    if (((ackSet[index >> 6] ?? 0n) >> BigInt(index & 63)) & 1n) left++;
  return left;
}
