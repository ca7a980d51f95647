import type { NewEntry, ReadBounds, Retention, StoredEntry } from "../entry.ts";
import type { Position } from "../position.ts";
import type { StorageError } from "../storage-error.ts";

export type { NewEntry, ReadBounds, Retention, StoredEntry };

/**
 * The log of one topic, or of one partition of it: entries are appended at its end, read from
 * anywhere and removed from its start, in whole segments.
 *
 * Only what is durable can be seen. Positions are ordered but have gaps where one segment follows
 * another: `{3, 99}` may be followed by `{4, 0}`. Every position may be asked about, whether an
 * entry stands there or not; what stands at or after it counts.
 */
export interface TopicLog {
  /** Of the first entry that is kept; equal to `end` if there is none. */
  readonly first: Position;
  /** Of the last entry that is kept, or undefined if there is none. */
  readonly last: Position | undefined;
  /** After all that is durable; no later entry is before it. */
  readonly end: Position;
  /** Bytes that the log takes. */
  readonly sizeBytes: number;
  /** Why the log has stopped; undefined while it has not. A stopped log must be opened again. */
  readonly failure: StorageError | undefined;

  /** False if `append` would be refused now for want of room. If it is true, a disk may say otherwise. */
  hasRoomFor(entry: NewEntry): boolean;

  /**
   * Resolves with the entry's position once it is durable: a crash of the machine does not lose it.
   * Positions follow the order of the calls, and so do the resolutions. Rejects with a
   * `StorageError` if the entry was not stored; if that is of kind `full`, so is every append that
   * waited behind it, and later ones may succeed. After an error of another kind no append succeeds, and this one may or may not be
   * found when the log is opened again.
   */
  append(entry: NewEntry): Promise<Position>;

  /**
   * The entries at and after `from`, in order; none if `from` is at the end. A read that meets
   * damaged bytes rejects with a `StorageError` that names them, and the log stops. It may give
   * less than the bounds allow before the end, but never nothing.
   */
  read(from: Position, bounds: ReadBounds): Promise<readonly StoredEntry[]>;

  /** Whether an entry is kept at a position. */
  holds(position: Position): boolean;

  /** Of the first entry after `position`; `end` if there is none. */
  next(position: Position): Position;

  /** Of the last entry before `position`; undefined if there is none that is kept. */
  previous(position: Position): Position | undefined;

  /** How many entries are kept at and after `from` and before `to`. */
  entryCountBetween(from: Position, to: Position): number;

  /** Bytes of the entries at and after a position; an estimate within the segment of the position. */
  sizeBytesFrom(position: Position): number;

  /** Of the first entry that was published at `atMs` or later; `end` if there is none. */
  positionAtTime(atMs: number): Promise<Position>;

  /** Removes segments all of whose entries are before `position`. The newest segment stays. */
  trimBefore(position: Position): Promise<void>;

  /**
   * Removes segments that are consumed and that retention does not keep. The newest one is replaced
   * by an empty one if that is true of all entries.
   */
  trim(retention: Retention): Promise<void>;

  /** Waits for appends that have begun, then closes for good. Calls after it reject. */
  close(): Promise<void>;
}
