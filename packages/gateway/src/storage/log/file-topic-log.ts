import type { Random } from "@sluice/core";
import { requireKnownKeys, requireWhole } from "@sluice/core/internal";
import { GroupCommit } from "./group-commit.ts";
import type { LogFiles } from "../file/log-files.ts";
import type { LogObserver } from "./log-event.ts";
import type { Position } from "../position.ts";
import { BODY_BYTES_MAX, requireEntry } from "../segment/record.ts";
import { SegmentFolder } from "../segment/segment-folder.ts";
import type { OpenedSegments } from "../segment/segment-folder.ts";
import type { Segment } from "../segment/segment.ts";
import { SegmentList } from "../segment/segment-list.ts";
import { StorageClosedError, StorageError, toStorageError } from "../storage-error.ts";
import { entriesOf } from "../segment/slab.ts";
import type { Slab } from "../segment/slab.ts";
import type { ReadCache } from "./read-cache.ts";
import { TailCache } from "./tail-cache.ts";
import type { CacheBudget } from "./tail-cache.ts";
import type { NewEntry, ReadBounds, Retention, StoredEntry, TopicLog } from "./topic-log.ts";
import { Turns } from "../turns.ts";

export interface FileTopicLogOptions {
  /** A segment gets no more entries once it would be larger. 64 MiB. */
  readonly segmentBytesMax?: number;
  /** Entries that are made durable together, at most. 4 MiB. */
  readonly groupBytesMax?: number;
  /** Appends are refused while more bytes than this wait to be durable. 64 MiB. */
  readonly pendingBytesMax?: number;
  /** A longer entry is a mistake of the caller's. 16 MiB. */
  readonly entryBytesMax?: number;
  /**
   * A newest segment of this size is replaced by an empty one when everything in it is consumed and
   * retention keeps nothing. 64 KiB: each replacement costs five syncs.
   */
  readonly drainedBytesMin?: number;
}

/** What logs are made with; all logs of a broker share it. */
export interface FileLogWorld {
  readonly files: LogFiles;
  readonly random: Random;
  readonly cache: CacheBudget;
  readonly readCache: ReadCache;
}

const MEBIBYTE = 1024 * 1024;

const DEFAULTS: Required<FileTopicLogOptions> = {
  segmentBytesMax: 64 * MEBIBYTE,
  groupBytesMax: 4 * MEBIBYTE,
  pendingBytesMax: 64 * MEBIBYTE,
  entryBytesMax: 16 * MEBIBYTE,
  drainedBytesMin: 64 * 1024,
};

/** So large that nobody wants more, and so small that a seal is read in one piece. */
const SEGMENT_BYTES_MAX = 4096 * MEBIBYTE;

/** How much is read at once to find a publish time. */
const TIME_SEARCH: ReadBounds = { countMax: 1024, bytesMax: 64 * 1024 };

/** A topic's log in a folder of segment files. The newest entries are read from memory. */
export class FileTopicLog implements TopicLog {
  readonly #folder: SegmentFolder;
  readonly #entryBytesMax: number;
  readonly #drainedBytesMin: number;
  readonly #segments = new SegmentList<Segment>();
  readonly #cache: TailCache;
  readonly #readCache: ReadCache;
  readonly #commits: GroupCommit;
  readonly #trims = new Turns();
  readonly #reads = new Set<Promise<unknown>>();
  /** No longer in the list, and still in the folder. */
  #leaving: Segment | undefined;
  #closing: Promise<void> | undefined;

  private constructor(
    { random, cache, readCache }: FileLogWorld,
    folder: SegmentFolder,
    found: {
      readonly opened: OpenedSegments;
      readonly options: Required<FileTopicLogOptions>;
      readonly observe: LogObserver;
    },
  ) {
    const { opened, options, observe } = found;
    this.#folder = folder;
    this.#entryBytesMax = options.entryBytesMax;
    this.#drainedBytesMin = options.drainedBytesMin;
    for (const segment of opened.segments) this.#segments.push(segment);
    this.#cache = new TailCache(cache);
    this.#readCache = readCache;
    this.#commits = new GroupCommit(
      random,
      { folder, segments: this.#segments, cache: this.#cache },
      { bounds: options, unsealed: opened.unsealed, observe },
    );
  }

  /**
   * Opens the log in `path`, or an empty one if there is none. Rejects with a `StorageError` that
   * names file, offset and entry if anything that was acknowledged is not as it was written.
   */
  static async open(
    world: FileLogWorld,
    path: string,
    options: FileTopicLogOptions = {},
    observe: LogObserver = () => undefined,
  ): Promise<FileTopicLog> {
    const checked = checkOptions(options);
    const folder = new SegmentFolder(world.files, path);
    try {
      const opened = await folder.open();
      const log = new FileTopicLog(world, folder, { opened, options: checked, observe });
      if (opened.cutBytes > 0) observe({ kind: "tail-cut", bytes: opened.cutBytes });
      await log.#commits.sealIfRoom();
      return log;
    } catch (error) {
      if (error instanceof StorageError && error.kind === "damaged")
        observe({ kind: "damaged", error });
      throw error;
    }
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
    return this.#segments.sizeBytes;
  }

  get failure(): StorageError | undefined {
    return this.#commits.failure;
  }

  hasRoomFor(): boolean {
    return this.#commits.hasRoom;
  }

  async append(entry: NewEntry): Promise<Position> {
    this.#requireOpen();
    requireEntry(entry, this.#entryBytesMax);
    return this.#commits.append(entry);
  }

  read(from: Position, bounds: ReadBounds): Promise<readonly StoredEntry[]> {
    const reading = this.#read(from, bounds);
    this.#reads.add(reading);
    const forget = (): void => void this.#reads.delete(reading);
    reading.then(forget, forget);
    return reading;
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

  async positionAtTime(atMs: number): Promise<Position> {
    this.#requireOpen();
    const segment = [...this.#segments].find(({ newestAtMs }) => newestAtMs >= atMs);
    const block = segment?.index.blockAtTime(atMs);
    if (segment === undefined || block === undefined) return this.end;
    let from: Position = { ledgerId: segment.ledgerId, entryId: block.entryId };
    for (;;) {
      const entries = await this.read(from, TIME_SEARCH);
      const found = entries.find(({ publishedAtMs }) => publishedAtMs >= atMs);
      const last = entries.at(-1);
      if (found !== undefined || last === undefined) return found?.position ?? this.end;
      from = this.next(last.position);
    }
  }

  trimBefore(position: Position): Promise<void> {
    return this.#trims.run(() => this.#trimWhile(() => this.#segments.isOldestBefore(position)));
  }

  trim(retention: Retention): Promise<void> {
    return this.#trims.run(async () => {
      const isExpired = (): boolean => this.#segments.isOldestExpired(retention);
      await this.#trimWhile(isExpired);
      if (!this.#segments.isNewestDrained(retention, this.#drainedBytesMin)) return;
      await this.#commits.roll();
      await this.#trimWhile(isExpired);
    });
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await this.#trims.idle();
    await Promise.allSettled(this.#reads);
    await this.#commits.close();
    this.#cache.close();
    this.#readCache.forget(this.#segments);
  }

  async #read(from: Position, bounds: ReadBounds): Promise<readonly StoredEntry[]> {
    for (;;) {
      this.#requireOpen();
      const located = this.#segments.locate(from);
      if (located === undefined) return [];
      const { segment, entryId } = located;
      const cached = this.#cache.read({ ledgerId: segment.ledgerId, entryId }, bounds);
      if (cached.length > 0) return cached;
      try {
        return entriesOf(await this.#slabFrom(segment, entryId, bounds), entryId, bounds);
      } catch (error) {
        // Its segment may have been trimmed meanwhile; then the next one counts.
        if (!this.#segments.has(segment)) continue;
        const cause = toStorageError(error);
        if (cause.kind === "damaged") this.#commits.stop(cause);
        throw cause;
      }
    }
  }

  /** The records of a segment from one on, from memory if they were read before. */
  async #slabFrom(segment: Segment, entryId: number, bounds: ReadBounds): Promise<Slab> {
    const known = this.#readCache.find(segment, entryId);
    if (known !== undefined) return known;
    const slab = await this.#folder.read(segment, entryId, bounds);
    if (this.#segments.has(segment) && this.#closing === undefined)
      this.#readCache.add(segment, slab);
    return slab;
  }

  async #trimWhile(goes: () => boolean): Promise<void> {
    this.#requireOpen();
    for (;;) {
      await this.#removeLeaving();
      const { oldest } = this.#segments;
      if (oldest === undefined || !goes()) return;
      this.#segments.removeOldest();
      this.#readCache.forget([oldest]);
      this.#leaving = oldest;
    }
  }

  /** If it cannot be removed, later ones must not be either: that would leave a gap. */
  async #removeLeaving(): Promise<void> {
    if (this.#leaving === undefined) return;
    try {
      await this.#folder.remove(this.#leaving);
      this.#leaving = undefined;
    } catch (error) {
      const cause = toStorageError(error);
      if (!cause.mayHeal) this.#commits.stop(cause);
      throw cause;
    }
  }

  #requireOpen(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.#closing !== undefined)
      throw new StorageClosedError(`the log in ${this.#folder.path} is closed`);
  }
}

function checkOptions(options: FileTopicLogOptions): Required<FileTopicLogOptions> {
  requireKnownKeys("a log", options, new Set(Object.keys(DEFAULTS)));
  const checked = { ...DEFAULTS, ...options };
  for (const [name, value] of Object.entries(checked)) requireWhole(name, value, 1);
  requireWhole("entryBytesMax", checked.entryBytesMax, 1, BODY_BYTES_MAX);
  requireWhole("segmentBytesMax", checked.segmentBytesMax, 1, SEGMENT_BYTES_MAX);
  return checked;
}
