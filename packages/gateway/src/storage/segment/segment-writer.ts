import type { Random } from "@sluice/core";
import type { LogFiles, WritableFile } from "../file/log-files.ts";
import { recordBytesOf } from "./record.ts";
import { Segment, segmentFile } from "./segment.ts";
import { drawSalt, encodeSegmentHeader } from "./segment-header.ts";
import { layOut } from "./slab.ts";
import type { Slab } from "./slab.ts";
import { StorageError } from "../storage-error.ts";
import type { NewEntry } from "../entry.ts";

/** Appends to one segment. One call at a time. */
export class SegmentWriter {
  readonly segment: Segment;
  readonly #file: WritableFile;

  private constructor(file: WritableFile, segment: Segment) {
    this.#file = file;
    this.segment = segment;
  }

  /** Makes a segment's file. It is durable, header included, before anything is appended. */
  static async create(
    { files, random }: { readonly files: LogFiles; readonly random: Random },
    folder: string,
    ledgerId: number,
  ): Promise<SegmentWriter> {
    const segment = new Segment(ledgerId, drawSalt(random));
    const file = await files.openDurable(`${folder}/${segmentFile(ledgerId)}`);
    try {
      await file.write([encodeSegmentHeader(ledgerId, segment.salt)], 0);
      await files.syncFolder(folder);
    } catch (error) {
      await file.close();
      throw error;
    }
    return new SegmentWriter(file, segment);
  }

  /**
   * Appends entries and makes them durable, all or none. An error of kind `full` leaves the segment
   * as it was; after any other nothing is known of it.
   */
  async append(entries: readonly NewEntry[]): Promise<readonly Slab[]> {
    const { segment } = this;
    const slabs = layOut(segment, entries);
    try {
      await this.#file.write(
        slabs.map((slab) => slab.bytes),
        segment.sizeBytes,
      );
    } catch (error) {
      if (error instanceof StorageError && error.mayHeal) await this.#takeBack();
      throw error;
    }
    for (const entry of entries) segment.grow(recordBytesOf(entry), entry.publishedAtMs);
    return slabs;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  /** Durably, so that no crash brings back what was refused. */
  async #takeBack(): Promise<void> {
    try {
      await this.#file.truncate(this.segment.sizeBytes);
      await this.#file.sync();
    } catch (cause) {
      throw new StorageError("failed", "what a full disk had taken could not be cut off", {
        cause,
      });
    }
  }
}
