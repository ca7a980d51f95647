import { RECORD_HEADER_BYTES, readHeader, recordBytesOf, writeRecord } from "./record.ts";
import type { Segment } from "./segment.ts";
import type { NewEntry, ReadBounds, StoredEntry } from "../entry.ts";

/** A slab is not made larger than this, but by one entry that is. */
const SLAB_BYTES_MAX = 1024 * 1024;

/** Records of one segment that follow each other, as they are in its file. */
export interface Slab {
  readonly ledgerId: number;
  readonly salt: Buffer;
  readonly firstEntryId: number;
  readonly bytes: Buffer;
  /** Where each record begins. */
  readonly offsets: Uint32Array;
}

/** Lays entries out as the next records of a segment. */
export function layOut(segment: Segment, entries: readonly NewEntry[]): readonly Slab[] {
  const slabs: Slab[] = [];
  const { ledgerId, salt, sizeBytes: durableBytes } = segment;
  for (let from = 0; from < entries.length;) {
    const { to, sizeBytes } = extent(entries, from);
    const firstEntryId = segment.entryCount + from;
    const bytes = Buffer.allocUnsafeSlow(sizeBytes);
    const offsets = new Uint32Array(to - from);
    let at = 0;
    for (const [index, entry] of entries.slice(from, to).entries()) {
      offsets[index] = at;
      const place = { salt, entryId: firstEntryId + index, durableBytes };
      at = writeRecord(bytes, at, { entry, place });
    }
    slabs.push({ ledgerId, salt, firstEntryId, bytes, offsets });
    from = to;
  }
  return slabs;
}

/** How many entries from `from` on go into one slab, at least one, and its size. */
function extent(
  entries: readonly NewEntry[],
  from: number,
): { readonly to: number; readonly sizeBytes: number } {
  let sizeBytes = 0;
  let to = from;
  for (const entry of entries.slice(from)) {
    const recordBytes = recordBytesOf(entry);
    if (to > from && sizeBytes + recordBytes > SLAB_BYTES_MAX) break;
    sizeBytes += recordBytes;
    to++;
  }
  return { to, sizeBytes };
}

/** The entries of a slab from one that it has, within bounds. */
export function entriesOf(
  slab: Slab,
  entryId: number,
  { countMax, bytesMax }: ReadBounds,
): StoredEntry[] {
  const entries: StoredEntry[] = [];
  let sumBytes = 0;
  for (const at of slab.offsets.subarray(entryId - slab.firstEntryId)) {
    const header = readHeader(slab.bytes, at, slab.salt);
    if (header === undefined || entries.length >= countMax) break;
    sumBytes += header.bodyBytes;
    if (entries.length > 0 && sumBytes > bytesMax) break;
    const from = at + RECORD_HEADER_BYTES;
    entries.push({
      position: { ledgerId: slab.ledgerId, entryId: header.entryId },
      bytes: slab.bytes.subarray(from, from + header.bodyBytes),
      messageCount: header.messageCount,
      publishedAtMs: header.publishedAtMs,
    });
  }
  return entries;
}
