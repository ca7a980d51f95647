import type { LogFiles, ReadableFile } from "../file/log-files.ts";
import type { ReadBounds } from "../entry.ts";
import { RECORD_HEADER_BYTES, isIntact, readHeader } from "./record.ts";
import type { RecordHeader } from "./record.ts";
import type { Segment } from "./segment.ts";
import { damaged } from "./segment-scan.ts";
import type { Slab } from "./slab.ts";

/**
 * Bytes that are read at once: at least the first, so that a reader that takes one entry at a time
 * finds the next ones in memory; at most the second, unless one record is larger.
 */
const READ_BYTES_MIN = 64 * 1024;
const READ_BYTES_MAX = 1024 * 1024;

/** A stretch of the file in memory. */
interface Stretch {
  readonly bytes: Buffer;
  readonly fromBytes: number;
}

interface Place {
  readonly entryId: number;
  readonly offsetBytes: number;
}

/**
 * Reads the records of one segment from its file, from one that it has: as many as the bounds ask
 * for, about, and at least those of 64 KiB. Each record is checked before it is believed. The first
 * one rejects with a `StorageError` that names it if it is damaged; a later one ends the slab.
 */
export async function readSegment(
  files: LogFiles,
  { path, segment }: { readonly path: string; readonly segment: Segment },
  { entryId, bounds }: { readonly entryId: number; readonly bounds: ReadBounds },
): Promise<Slab> {
  const file = await files.openToRead(path);
  try {
    return await new Reading(file, path, segment).read(entryId, bounds);
  } finally {
    await file.close();
  }
}

class Reading {
  readonly #file: ReadableFile;
  readonly #path: string;
  readonly #segment: Segment;
  /** What is durable now: more may be so before the reading ends. */
  readonly #sizeBytes: number;

  constructor(file: ReadableFile, path: string, segment: Segment) {
    this.#file = file;
    this.#path = path;
    this.#segment = segment;
    this.#sizeBytes = segment.sizeBytes;
  }

  async read(wantedId: number, bounds: ReadBounds): Promise<Slab> {
    const wantedBytes = this.#bytesFor(bounds);
    const block = this.#segment.index.blockOf(wantedId);
    let { entryId, offsetBytes } = block ?? { entryId: 0, offsetBytes: 0 };
    let stretch = await this.#stretch(offsetBytes, wantedBytes);
    while (entryId < wantedId) {
      const header = this.#header(stretch, offsetBytes, entryId);
      offsetBytes += RECORD_HEADER_BYTES + header.bodyBytes;
      entryId++;
      if (!holds(stretch, offsetBytes, RECORD_HEADER_BYTES))
        stretch = await this.#stretch(offsetBytes, wantedBytes);
    }
    const { bodyBytes } = this.#header(stretch, offsetBytes, entryId);
    const recordBytes = RECORD_HEADER_BYTES + bodyBytes;
    if (!holds(stretch, offsetBytes, recordBytes))
      stretch = await this.#stretch(offsetBytes, Math.max(recordBytes, wantedBytes));
    return this.#slab(stretch, { entryId, offsetBytes });
  }

  /** By the mean size of the segment's records. */
  #bytesFor({ countMax, bytesMax }: ReadBounds): number {
    const { sizeBytes, entryCount } = this.#segment;
    const bytes = Math.min(bytesMax, countMax * (sizeBytes / Math.max(1, entryCount)));
    return Math.ceil(Math.min(Math.max(bytes, READ_BYTES_MIN), READ_BYTES_MAX));
  }

  /** The whole and intact records of a stretch from one on. */
  #slab(stretch: Stretch, first: Place): Slab {
    const { bytes, fromBytes } = stretch;
    const offsets: number[] = [];
    let { entryId, offsetBytes } = first;
    while (holds(stretch, offsetBytes, RECORD_HEADER_BYTES)) {
      const header = this.#intact(stretch, { entryId, offsetBytes });
      if (header === undefined) {
        // A read that begins here names the damage, or finds the record whole.
        if (offsets.length > 0) break;
        throw this.#damaged(offsetBytes, entryId);
      }
      offsets.push(offsetBytes - fromBytes);
      offsetBytes += RECORD_HEADER_BYTES + header.bodyBytes;
      entryId++;
    }
    const { ledgerId, salt } = this.#segment;
    return {
      ledgerId,
      salt,
      firstEntryId: first.entryId,
      bytes,
      offsets: Uint32Array.from(offsets),
    };
  }

  /** The header of a record that is in the stretch whole and as it was written. */
  #intact(stretch: Stretch, { entryId, offsetBytes }: Place): RecordHeader | undefined {
    const at = offsetBytes - stretch.fromBytes;
    const header = readHeader(stretch.bytes, at, this.#segment.salt);
    if (header?.entryId !== entryId) return undefined;
    if (!holds(stretch, offsetBytes, RECORD_HEADER_BYTES + header.bodyBytes)) return undefined;
    return isIntact(stretch.bytes, at, header) ? header : undefined;
  }

  /** The header of an entry that must be there, with a length that fits the file. */
  #header({ bytes, fromBytes }: Stretch, offsetBytes: number, entryId: number): RecordHeader {
    const at = offsetBytes - fromBytes;
    const header =
      at + RECORD_HEADER_BYTES <= bytes.length
        ? readHeader(bytes, at, this.#segment.salt)
        : undefined;
    const fits =
      header?.entryId === entryId &&
      offsetBytes + RECORD_HEADER_BYTES + header.bodyBytes <= this.#sizeBytes;
    if (header === undefined || !fits) throw this.#damaged(offsetBytes, entryId);
    return header;
  }

  async #stretch(fromBytes: number, wantedBytes: number): Promise<Stretch> {
    const bytes = Buffer.allocUnsafeSlow(
      Math.max(0, Math.min(wantedBytes, this.#sizeBytes - fromBytes)),
    );
    const got = await this.#file.read(bytes, fromBytes);
    return { bytes: bytes.subarray(0, got), fromBytes };
  }

  #damaged(offsetBytes: number, entryId: number): Error {
    return damaged(this.#path, offsetBytes, { ledgerId: this.#segment.ledgerId, entryId });
  }
}

function holds({ bytes, fromBytes }: Stretch, offsetBytes: number, length: number): boolean {
  return offsetBytes + length <= fromBytes + bytes.length;
}
