import type { Position } from "./position.ts";

/** What is appended: one message, or one batch of them, as its producer sent it. */
export interface NewEntry {
  /** The bytes, in pieces that follow each other. They must not change until `append` settles. */
  readonly parts: readonly Uint8Array[];
  /** Messages in the entry, from 1 to 2^32 - 1. */
  readonly messageCount: number;
  /** Wall time, whole milliseconds. It may go back; `positionAtTime` still finds the first. */
  readonly publishedAtMs: number;
}

/** What was appended and is durable. */
export interface StoredEntry {
  readonly position: Position;
  /** A view that must not be written to. It may keep up to a megabyte around it alive. */
  readonly bytes: Uint8Array;
  readonly messageCount: number;
  readonly publishedAtMs: number;
}

export interface ReadBounds {
  readonly countMax: number;
  /** Sum of the entries' bytes. The first entry is given even if it alone is larger. */
  readonly bytesMax: number;
}

/**
 * How long segments are kept after everybody has consumed them: while they are within the age and
 * within the size. `Infinity` is no limit; a 0 keeps none, as in Pulsar.
 */
export interface Retention {
  /** Wall time now. */
  readonly nowMs: number;
  /** Everything before this position is consumed by everybody. */
  readonly consumedBefore: Position;
  /** A consumed segment goes once its newest entry is older. */
  readonly ageMaxMs: number;
  /** A consumed segment goes if the log without it still has so many bytes. */
  readonly sizeMaxBytes: number;
  /**
   * A newest segment that is all consumed goes once its newest entry is older; 0 is at once. Ten
   * minutes if absent, as long as Pulsar keeps a ledger open (managedLedgerMinLedgerRolloverTimeMinutes),
   * for consumers that subscribe from the earliest entry on after it was published.
   */
  readonly drainAfterMs?: number;
}
