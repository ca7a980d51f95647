import type { Position } from "../../storage/position.ts";
import type { ReadBounds, StoredEntry } from "../../storage/log/topic-log.ts";
import type { Consumer } from "../consumer.ts";
import type { Delivery } from "../delivery.ts";

/** A wish for entries. Each is an object of its own: an answer to another one is not listened to. */
export interface ReadRequest {
  readonly from: Position;
  readonly bounds: ReadBounds;
}

/** Entries for one consumer, in order. */
export interface Dispatch {
  readonly consumer: Consumer;
  readonly deliveries: Delivery[];
}

export interface ActiveChange {
  readonly consumer: Consumer;
  readonly isActive: boolean;
}

/**
 * Who gets which entry. It is told what happens and asked for what is to be done: nothing is read
 * but what `wanted` asks for, and nothing is delivered but by `dispatch`.
 */
export interface Dispatcher {
  readonly consumers: readonly Consumer[];

  join(consumer: Consumer): readonly ActiveChange[];

  /** What it has not acknowledged is to be delivered again. */
  leave(consumer: Consumer): readonly ActiveChange[];

  /** Whether entries come to this consumer when it has permits. */
  isActive(consumer: Consumer): boolean;

  /** Delivers again what a consumer has: these, or everything. */
  redeliver(consumer: Consumer, positions: readonly Position[] | undefined): void;

  /** The cursor has just taken this whole entry for acknowledged. */
  onAcked(position: Position): void;

  /** The cursor has moved: everything before the position counts as acknowledged. */
  onSkipped(position: Position): void;

  /**
   * Whether entries are on their way back from consumers. Until they are, nothing is wanted and
   * nothing is dispatched; each call of `wanted` or `dispatch` takes some of them back.
   */
  readonly isReturning: boolean;

  /** Entries that wait for their delivery time. */
  readonly delayedEntries: number;

  /** Wall time at which the next of them is due; undefined if none waits. */
  readonly nextDueMs: number | undefined;

  /** Entries that are remembered by position: with consumers, to be delivered again, or delayed. */
  readonly trackedEntries: number;

  /** Bytes of the entries that were read and not delivered. */
  readonly heldBytes: number;

  /** Lets go of these entries; they are read again when a consumer can take them. */
  letGo(): void;

  /** What should be read now; undefined if nothing, or if the last wish is not answered yet. */
  wanted(): ReadRequest | undefined;

  /** Answers a wish; with nothing if the log has nothing there yet. */
  onRead(request: ReadRequest, entries: readonly StoredEntry[]): void;

  /** Gives out what has been read, as far as permits allow. */
  dispatch(): readonly Dispatch[];
}

/** Where to read on after an entry: it need not be a position that an entry has. */
export function after({ ledgerId, entryId }: Position): Position {
  return { ledgerId, entryId: entryId + 1 };
}
