import { EARLIEST_ID, NO_ID } from "@sluice/pulsar/wire";
import type { MessageIdData } from "@sluice/pulsar/wire";
import type { Position } from "../storage/position.ts";
import type { StartPoint } from "../topic/consumer/consumer-handle.ts";

/**
 * The position that an id names. The latest is after everything; -1, which clients send for the
 * entry before a ledger's first, is before it.
 */
export function positionOf({ ledgerId, entryId }: MessageIdData): Position {
  return { ledgerId: signed(ledgerId), entryId: signed(entryId) };
}

export function messageIdOf({ ledgerId, entryId }: Position): MessageIdData {
  return { ledgerId: BigInt(ledgerId), entryId: BigInt(entryId) };
}

/** Of an entry that was stored before, Pulsar's receipts tell no position. */
export const NO_MESSAGE_ID: MessageIdData = { ledgerId: NO_ID, entryId: NO_ID };

/** Where a start or a seek to an id goes: to the entry itself. The client drops what it has seen. */
export function startPointOf(id: MessageIdData): StartPoint {
  if (id.ledgerId === EARLIEST_ID) return { kind: "earliest" };
  return { kind: "at", position: positionOf(id) };
}

/** Ids from here on are negative numbers of 64 bits. */
const NEGATIVE_FROM = 1n << 63n;

function signed(id: bigint): number {
  // `asIntN` makes a BigInt for each id of an ACK.
  return Number(id < NEGATIVE_FROM ? id : BigInt.asIntN(64, id));
}
