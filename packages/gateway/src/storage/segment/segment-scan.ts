import { FileWindow } from "./file-window.ts";
import type { ReadableFile } from "../file/log-files.ts";
import { formatPosition } from "../position.ts";
import { RECORD_HEADER_BYTES } from "./record.ts";
import { Segment } from "./segment.ts";
import { SEGMENT_HEADER_BYTES, decodeSegmentHeader } from "./segment-header.ts";
import { StorageError } from "../storage-error.ts";

export interface ScannedSegment {
  /** Undefined if not even the header was written whole; then nothing else was. */
  readonly segment: Segment | undefined;
  /** Bytes at the file's end that belong to no acknowledged entry. */
  readonly tornBytes: number;
}

/**
 * Reads through a segment that was not sealed. Bytes at its end that are no records are torn, and
 * may be cut, unless a later record says that they were durable: then they are damaged, and this
 * rejects with a `StorageError` that names the spot. The file is not changed.
 */
export async function scanSegment(
  file: ReadableFile,
  path: string,
  ledgerId: number,
): Promise<ScannedSegment> {
  const window = new FileWindow(file, await file.sizeBytes());
  const salt = decodeSegmentHeader(
    Buffer.from(await window.bytesAt(0, SEGMENT_HEADER_BYTES)),
    ledgerId,
  );
  if (salt === undefined) {
    // The header is durable before the first record is written.
    if (window.sizeBytes > SEGMENT_HEADER_BYTES) throw damaged(path, 0, { ledgerId, entryId: 0 });
    return { segment: undefined, tornBytes: window.sizeBytes };
  }
  const segment = new Segment(ledgerId, salt);
  await readThrough(window, segment);
  const endBytes = segment.sizeBytes;
  if ((await durableMark(window, salt, endBytes)) > endBytes)
    throw damaged(path, endBytes, { ledgerId, entryId: segment.entryCount });
  return { segment, tornBytes: window.sizeBytes - endBytes };
}

async function readThrough(window: FileWindow, segment: Segment): Promise<void> {
  for (;;) {
    const { sizeBytes, salt } = segment;
    // A wait for each of many small records would be most of the time that opening takes.
    const record =
      window.recordInMemory(sizeBytes, salt) ?? (await window.recordAt(sizeBytes, salt));
    if (record?.entryId !== segment.entryCount) return;
    segment.grow(RECORD_HEADER_BYTES + record.bodyBytes, record.publishedAtMs);
  }
}

/** The largest mark of the intact records after an offset; 0 if there are none. */
async function durableMark(window: FileWindow, salt: Buffer, fromBytes: number): Promise<number> {
  let markBytes = 0;
  for (let from = fromBytes; ;) {
    const at = await window.find(salt, from);
    if (at === undefined) return markBytes;
    const record = await window.recordAt(at, salt);
    if (record !== undefined) markBytes = Math.max(markBytes, record.durableBytes);
    from = at + (record === undefined ? 1 : RECORD_HEADER_BYTES + record.bodyBytes);
  }
}

/** Bytes that were stored and are not what they were. */
export function damaged(
  file: string,
  offsetBytes: number,
  position: { readonly ledgerId: number; readonly entryId: number },
): StorageError {
  return new StorageError(
    "damaged",
    `${file} is damaged at byte ${offsetBytes}, entry ${formatPosition(position)}`,
    { spot: { file, offsetBytes, position } },
  );
}
