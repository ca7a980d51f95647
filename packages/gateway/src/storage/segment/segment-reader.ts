import type { LogFiles, ReadableFile } from "../file/log-files.ts";
import { RECORD_HEADER_BYTES, isIntact, readHeader } from "./record.ts";
import type { RecordHeader } from "./record.ts";
import type { Segment } from "./segment.ts";
import { damaged } from "./segment-scan.ts";
import type { ReadBounds, StoredEntry } from "../entry.ts";

/** What is read at once at least and, unless one record is larger, at most. */
const READ_BYTES_MIN = 64 * 1024;
const READ_BYTES_MAX = 1024 * 1024;

/** A stretch of the file in memory. */
interface Stretch {
  readonly bytes: Buffer;
  readonly fromBytes: number;
}

/**
 * Reads entries of one segment from its file, from one that it has. Each record is checked before
 * it is believed; a damaged one rejects with a `StorageError` that names it.
 */
export async function readSegment(
  files: LogFiles,
  { path, segment }: { readonly path: string; readonly segment: Segment },
  { entryId, bounds }: { readonly entryId: number; readonly bounds: ReadBounds },
): Promise<readonly StoredEntry[]> {
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

  async read(wantedId: number, bounds: ReadBounds): Promise<readonly StoredEntry[]> {
    const block = this.#segment.index.blockOf(wantedId);
    let { entryId, offsetBytes } = block ?? { entryId: 0, offsetBytes: 0 };
    let stretch = await this.#stretch(offsetBytes, bounds.bytesMax);
    while (entryId < wantedId) {
      const header = this.#header(stretch, offsetBytes, entryId);
      offsetBytes += RECORD_HEADER_BYTES + header.bodyBytes;
      entryId++;
      if (!holds(stretch, offsetBytes, RECORD_HEADER_BYTES))
        stretch = await this.#stretch(offsetBytes, bounds.bytesMax);
    }
    const { bodyBytes } = this.#header(stretch, offsetBytes, entryId);
    const recordBytes = RECORD_HEADER_BYTES + bodyBytes;
    if (!holds(stretch, offsetBytes, recordBytes))
      stretch = await this.#stretch(offsetBytes, Math.max(bodyBytes, bounds.bytesMax), recordBytes);
    return this.#entries(stretch, { entryId, offsetBytes }, bounds);
  }

  /** All whole records of a stretch from one on, within bounds. */
  #entries(
    stretch: Stretch,
    from: { readonly entryId: number; readonly offsetBytes: number },
    { countMax, bytesMax }: ReadBounds,
  ): readonly StoredEntry[] {
    const entries: StoredEntry[] = [];
    let { entryId, offsetBytes } = from;
    let sumBytes = 0;
    while (entries.length < countMax && holds(stretch, offsetBytes, RECORD_HEADER_BYTES)) {
      const header = this.#header(stretch, offsetBytes, entryId);
      const recordBytes = RECORD_HEADER_BYTES + header.bodyBytes;
      sumBytes += header.bodyBytes;
      if (!holds(stretch, offsetBytes, recordBytes)) break;
      if (entries.length > 0 && sumBytes > bytesMax) break;
      entries.push(this.#entry(stretch, offsetBytes, header));
      offsetBytes += recordBytes;
      entryId++;
    }
    return entries;
  }

  #entry({ bytes, fromBytes }: Stretch, offsetBytes: number, header: RecordHeader): StoredEntry {
    const { entryId, bodyBytes, messageCount, publishedAtMs } = header;
    const at = offsetBytes - fromBytes;
    if (!isIntact(bytes, at, header)) throw this.#damaged(offsetBytes, entryId);
    const bodyAt = at + RECORD_HEADER_BYTES;
    return {
      position: { ledgerId: this.#segment.ledgerId, entryId },
      bytes: bytes.subarray(bodyAt, bodyAt + bodyBytes),
      messageCount,
      publishedAtMs,
    };
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

  async #stretch(fromBytes: number, bytesMax: number, needed: number = 0): Promise<Stretch> {
    const wanted = Math.max(needed, Math.min(Math.max(bytesMax, READ_BYTES_MIN), READ_BYTES_MAX));
    const bytes = Buffer.allocUnsafeSlow(
      Math.max(0, Math.min(wanted, this.#sizeBytes - fromBytes)),
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
