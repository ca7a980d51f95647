import type { Random } from "@sluice/core";
import { AppendQueue } from "./append-queue.ts";
import type { PendingAppend } from "./append-queue.ts";
import type { Position } from "../position.ts";
import type { SegmentFolder } from "../segment/segment-folder.ts";
import type { SegmentList } from "../segment/segment-list.ts";
import type { SegmentWriter } from "../segment/segment-writer.ts";
import type { Segment } from "../segment/segment.ts";
import { StorageError, toStorageError } from "../storage-error.ts";
import type { TailCache } from "./tail-cache.ts";
import type { LogObserver } from "./log-event.ts";
import type { NewEntry } from "./topic-log.ts";

export interface GroupCommitBounds {
  readonly segmentBytesMax: number;
  readonly groupBytesMax: number;
  readonly pendingBytesMax: number;
}

export interface GroupCommitOptions {
  readonly bounds: GroupCommitBounds;
  readonly unsealed: Segment | undefined;
  readonly observe: LogObserver;
}

/** Where entries go. */
export interface CommitTarget {
  readonly folder: SegmentFolder;
  readonly segments: SegmentList<Segment>;
  readonly cache: TailCache;
}

/**
 * Makes appends durable, in groups, at the end of the newest segment.
 *
 * Appends wait in line. While one group of them is written and synced, the next one gathers, so
 * that one sync serves all who came meanwhile. A disk that is full refuses a group and all that
 * waits behind it, so that nothing is stored in place of what was sent before it; it is asked again by
 * the next append. After a failed sync nobody knows what is on the disk, so it is never tried
 * again: all stops, and what is durable is found by opening the log anew.
 */
export class GroupCommit {
  readonly #random: Random;
  readonly #target: CommitTarget;
  readonly #bounds: GroupCommitBounds;
  readonly #observe: LogObserver;
  readonly #queue = new AppendQueue();
  #unsealed: Segment | undefined;
  #writer: SegmentWriter | undefined;
  #committing: Promise<void> | undefined;
  #failure: StorageError | undefined;
  /** The newest attempt found no room. */
  #isRefusing = false;

  /** `unsealed` is the newest segment if a crash left it without a seal. */
  constructor(
    random: Random,
    target: CommitTarget,
    { bounds, unsealed, observe }: GroupCommitOptions,
  ) {
    this.#random = random;
    this.#target = target;
    this.#bounds = bounds;
    this.#unsealed = unsealed;
    this.#observe = observe;
  }

  /** Why nothing is appended any more; undefined while that is not so. */
  get failure(): StorageError | undefined {
    return this.#failure;
  }

  /** Whether one more append may wait. */
  get hasRoom(): boolean {
    return this.#queue.sizeBytes <= this.#bounds.pendingBytesMax;
  }

  append(entry: NewEntry): Promise<Position> {
    const { pendingBytesMax } = this.#bounds;
    if (!this.hasRoom)
      throw new StorageError("full", `more than ${pendingBytesMax} bytes wait to be stored`);
    const stored = this.#queue.push(entry);
    this.#committing ??= this.#commitAll();
    return stored;
  }

  /** Refuses all that waits and all that comes. */
  stop(cause: StorageError): void {
    if (this.#failure !== undefined) return;
    this.#failure = cause;
    if (cause.kind === "damaged") this.#observe({ kind: "damaged", error: cause });
  }

  /** Seals the newest segment. If there is no room, it is read through when it is opened again. */
  async sealIfRoom(): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      await this.#seal();
    } catch (error) {
      const cause = toStorageError(error);
      if (!cause.mayHeal) throw cause;
    }
  }

  /**
   * Goes on in a new segment, so that the newest one can be removed. Does nothing while appends are
   * under way, or if there is no room for a segment: then the next call tries again.
   */
  async roll(): Promise<void> {
    if (this.#committing !== undefined || this.#failure !== undefined) return;
    this.#committing = this.#rollAndCommit();
    await this.#committing;
  }

  /** Waits for what was appended. Nothing may be appended after it. */
  async close(): Promise<void> {
    await this.#committing;
    try {
      await this.sealIfRoom();
    } finally {
      await this.#closeWriter();
    }
  }

  async #commitAll(): Promise<void> {
    while (this.#queue.length > 0) await this.#commit();
    this.#committing = undefined;
  }

  async #rollAndCommit(): Promise<void> {
    try {
      await this.#nextWriter();
    } catch (error) {
      this.#refused(toStorageError(error));
    }
    await this.#commitAll();
  }

  #refused(cause: StorageError): void {
    if (!cause.mayHeal) this.stop(cause);
    else if (!this.#isRefusing) this.#observe({ kind: "storage-full", error: cause });
    this.#isRefusing = cause.mayHeal;
  }

  #healed(): void {
    if (this.#isRefusing) this.#observe({ kind: "healed" });
    this.#isRefusing = false;
  }

  async #commit(): Promise<void> {
    const { groupBytesMax, segmentBytesMax } = this.#bounds;
    let group: readonly PendingAppend[] = [];
    try {
      // Whoever appends in this turn joins the group.
      const writer = await this.#writerFor(this.#queue.nextBytes);
      const roomBytes = segmentBytesMax - writer.segment.sizeBytes;
      group = this.#queue.take(Math.min(groupBytesMax, roomBytes));
      const slabs = await writer.append(group.map(({ entry }) => entry));
      for (const slab of slabs) this.#target.cache.add(slab);
      this.#healed();
      const { ledgerId, entryCount } = writer.segment;
      for (const [index, { resolve }] of group.entries())
        resolve({ ledgerId, entryId: entryCount - group.length + index });
    } catch (error) {
      const cause = toStorageError(error);
      this.#refused(cause);
      for (const { reject } of [...group, ...this.#queue.take(Infinity)]) reject(cause);
    }
  }

  /** The newest segment's writer, in a new segment if the next record would make it too large. */
  async #writerFor(recordBytes: number): Promise<SegmentWriter> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#writer !== undefined) {
      const { sizeBytes, entryCount } = this.#writer.segment;
      const fits = sizeBytes + recordBytes <= this.#bounds.segmentBytesMax;
      if (fits || entryCount === 0) return this.#writer;
    }
    return this.#nextWriter();
  }

  async #nextWriter(): Promise<SegmentWriter> {
    const { folder, segments } = this.#target;
    // A sealed segment gets nothing more, whether the next one can be made or not.
    await this.#seal();
    const writer = await folder.create((segments.newest?.ledgerId ?? -1) + 1, this.#random);
    this.#writer = writer;
    this.#unsealed = writer.segment;
    segments.push(writer.segment);
    return writer;
  }

  async #seal(): Promise<void> {
    if (this.#unsealed === undefined) return;
    await this.#target.folder.seal(this.#unsealed);
    this.#unsealed = undefined;
    await this.#closeWriter();
  }

  async #closeWriter(): Promise<void> {
    const writer = this.#writer;
    this.#writer = undefined;
    await writer?.close();
  }
}
