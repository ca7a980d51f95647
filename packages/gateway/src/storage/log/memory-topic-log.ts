import { requireWhole } from "@sluice/core/internal";
import type { Position } from "../position.ts";
import { RECORD_HEADER_BYTES, recordBytesOf, requireEntry } from "../segment/record.ts";
import { MemorySegment } from "../segment/memory-segment.ts";
import { SegmentList } from "../segment/segment-list.ts";
import { settled } from "../file/settled.ts";
import { StorageClosedError, StorageError } from "../storage-error.ts";
import type { NewEntry, ReadBounds, Retention, StoredEntry, TopicLog } from "./topic-log.ts";

export interface MemoryTopicLogOptions {
  /** Appends are refused while the log is larger. 64 MiB. */
  readonly bytesMax?: number;
  /** A segment gets no more entries once it would be larger. A part of `bytesMax`. */
  readonly segmentBytesMax?: number;
}

/** Trimming goes by whole segments; this many of them make little of the room wait for the rest. */
const SEGMENTS = 64;

/** A log that is gone with its process. It takes `bytesMax` at most and drops nothing by itself. */
export class MemoryTopicLog implements TopicLog {
  readonly failure: StorageError | undefined = undefined;
  readonly #bytesMax: number;
  readonly #segmentBytesMax: number;
  #segments = new SegmentList<MemorySegment>();
  #sizeBytes = 0;
  #isClosed = false;

  constructor({ bytesMax = 64 * 1024 * 1024, segmentBytesMax }: MemoryTopicLogOptions = {}) {
    requireWhole("bytesMax", bytesMax, 1);
    this.#bytesMax = bytesMax;
    this.#segmentBytesMax = segmentBytesMax ?? Math.ceil(bytesMax / SEGMENTS);
    requireWhole("segmentBytesMax", this.#segmentBytesMax, 1);
  }

  get first(): Position {
    return this.#segments.first;
  }

  get last(): Position | undefined {
    return this.#segments.last;
  }

  get end(): Position {
    return this.#segments.end;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  hasRoomFor(entry: NewEntry): boolean {
    return this.#sizeBytes + recordBytesOf(entry) <= this.#bytesMax;
  }

  append(entry: NewEntry): Promise<Position> {
    return settled(() => this.#append(entry));
  }

  read(from: Position, bounds: ReadBounds): Promise<readonly StoredEntry[]> {
    return settled(() => this.#read(from, bounds));
  }

  holds(position: Position): boolean {
    return this.#segments.holds(position);
  }

  next(position: Position): Position {
    return this.#segments.next(position);
  }

  previous(position: Position): Position | undefined {
    return this.#segments.previous(position);
  }

  entryCountBetween(from: Position, to: Position): number {
    return this.#segments.entryCountBetween(from, to);
  }

  sizeBytesFrom(position: Position): number {
    return this.#segments.sizeBytesFrom(position);
  }

  positionAtTime(atMs: number): Promise<Position> {
    return settled(() => this.#positionAtTime(atMs));
  }

  trimBefore(position: Position): Promise<void> {
    return settled(() => this.#trimWhile(() => this.#segments.isOldestBefore(position)));
  }

  trim(retention: Retention): Promise<void> {
    return settled(() => {
      const isExpired = (): boolean => this.#segments.isOldestExpired(retention);
      this.#trimWhile(isExpired);
      if (!this.#segments.isNewestDrained(retention, 0)) return;
      this.#segments.push(new MemorySegment(this.end.ledgerId + 1));
      this.#trimWhile(isExpired);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  /** A log that goes on with what this one had; this one must be closed. */
  reopened(): MemoryTopicLog {
    const options = { bytesMax: this.#bytesMax, segmentBytesMax: this.#segmentBytesMax };
    const log = new MemoryTopicLog(options);
    log.#segments = this.#segments;
    log.#sizeBytes = this.#sizeBytes;
    return log;
  }

  #append(entry: NewEntry): Position {
    this.#requireOpen();
    requireEntry(entry, this.#bytesMax - RECORD_HEADER_BYTES);
    const recordBytes = recordBytesOf(entry);
    if (!this.hasRoomFor(entry))
      throw new StorageError("full", `the log has its ${this.#bytesMax} bytes`);
    this.#sizeBytes += recordBytes;
    return this.#segmentFor(recordBytes).add(entry, recordBytes);
  }

  #read(from: Position, { countMax, bytesMax }: ReadBounds): readonly StoredEntry[] {
    this.#requireOpen();
    const located = this.#segments.locate(from);
    if (located === undefined) return [];
    const { segment, entryId } = located;
    const entries: StoredEntry[] = [];
    let sumBytes = 0;
    const end = Math.min(segment.entryCount, entryId + countMax);
    for (let id = entryId; id < end; id++) {
      const entry = segment.entry(id);
      sumBytes += entry.bytes.length;
      if (entries.length > 0 && sumBytes > bytesMax) break;
      entries.push(entry);
    }
    return entries;
  }

  #positionAtTime(atMs: number): Position {
    this.#requireOpen();
    for (const segment of this.#segments) {
      if (segment.newestAtMs < atMs) continue;
      return { ledgerId: segment.ledgerId, entryId: segment.firstFrom(atMs) };
    }
    return this.end;
  }

  #trimWhile(goes: () => boolean): void {
    this.#requireOpen();
    while (goes()) this.#removeOldest();
  }

  #segmentFor(recordBytes: number): MemorySegment {
    const { newest } = this.#segments;
    const fits =
      newest !== undefined &&
      (newest.entryCount === 0 || newest.sizeBytes + recordBytes <= this.#segmentBytesMax);
    if (fits) return newest;
    const segment = new MemorySegment((newest?.ledgerId ?? -1) + 1);
    this.#segments.push(segment);
    return segment;
  }

  #removeOldest(): void {
    this.#sizeBytes -= this.#segments.oldest?.sizeBytes ?? 0;
    this.#segments.removeOldest();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError("the log is closed");
  }
}
