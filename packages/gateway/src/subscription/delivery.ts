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
  const wordCount = Math.min(ackSet.length, Math.ceil(messageCount / WORD_BITS));
  for (let index = 0; index < wordCount; index++) {
    const bits = Math.min(WORD_BITS, messageCount - index * WORD_BITS);
    const word = BigInt.asUintN(bits, ackSet[index] ?? 0n);
    left += bitsSet(Number(word & LOW_BITS)) + bitsSet(Number(word >> 32n));
  }
  return left;
}

const WORD_BITS = 64;
const LOW_BITS = 0xff_ff_ff_ffn;

/** Of a whole number below 2^32; adds up neighbours: pairs, then fours, then bytes. */
function bitsSet(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55_55_55_55);
  const fours = (pairs & 0x33_33_33_33) + ((pairs >>> 2) & 0x33_33_33_33);
  const bytes = (fours + (fours >>> 4)) & 0x0f_0f_0f_0f;
  return Math.imul(bytes, 0x01_01_01_01) >>> 24;
}
