import { InvariantError } from "@sluice/core";
import { crc32c } from "@sluice/pulsar/wire";
import type { NewEntry } from "../entry.ts";

/**
 * A record, numbers lowest byte first:
 *
 * | bytes | what |
 * |---|---|
 * | 8 | the segment's salt: where to look for records after a damaged one |
 * | 4 | CRC-32C of all that follows |
 * | 4 | length of the body |
 * | 4 | entry id |
 * | 4 | messages in the entry |
 * | 8 | publish time, ms, a double |
 * | 8 | how many bytes of the segment were durable when this was written, a double |
 * | … | body |
 */
export const RECORD_HEADER_BYTES = 40;
const CRC_AT = 8;
const SUMMED_FROM = 12;

/** No body may be longer, whatever the settings: lengths beyond it are damage. */
export const BODY_BYTES_MAX: number = 256 * 1024 * 1024;

export const SALT_BYTES = 8;

export interface RecordHeader {
  readonly crc: number;
  readonly bodyBytes: number;
  readonly entryId: number;
  readonly messageCount: number;
  readonly publishedAtMs: number;
  readonly durableBytes: number;
}

/** What a segment adds to an entry. */
export interface RecordPlace {
  readonly salt: Buffer;
  readonly entryId: number;
  readonly durableBytes: number;
}

function bodyBytesOf(entry: NewEntry): number {
  let bytes = 0;
  for (const part of entry.parts) bytes += part.length;
  return bytes;
}

export function recordBytesOf(entry: NewEntry): number {
  return RECORD_HEADER_BYTES + bodyBytesOf(entry);
}

/** Refuses an entry that no record can hold: it would be a mistake of the caller's. */
export function requireEntry(entry: NewEntry, bodyBytesMax: number): void {
  const { messageCount, publishedAtMs } = entry;
  const bodyBytes = bodyBytesOf(entry);
  if (bodyBytes > bodyBytesMax)
    throw new InvariantError(`an entry of ${bodyBytes} bytes is longer than ${bodyBytesMax}`);
  if (!Number.isInteger(messageCount) || messageCount < 1 || messageCount >= 2 ** 32)
    throw new InvariantError(`an entry cannot have ${messageCount} messages`);
  if (!Number.isFinite(publishedAtMs))
    throw new InvariantError(`an entry cannot be published at ${publishedAtMs} ms`);
}

/** Writes a record into `slab` at `at`, the one time that its bytes are copied; says where it ends. */
export function writeRecord(
  slab: Buffer,
  at: number,
  { entry, place }: { readonly entry: NewEntry; readonly place: RecordPlace },
): number {
  let end = at + RECORD_HEADER_BYTES;
  for (const part of entry.parts) {
    slab.set(part, end);
    end += part.length;
  }
  slab.set(place.salt, at);
  slab.writeUInt32LE(end - at - RECORD_HEADER_BYTES, at + 12);
  slab.writeUInt32LE(place.entryId, at + 16);
  slab.writeUInt32LE(entry.messageCount, at + 20);
  slab.writeDoubleLE(entry.publishedAtMs, at + 24);
  slab.writeDoubleLE(place.durableBytes, at + 32);
  slab.writeUInt32LE(crc32c(slab.subarray(at + SUMMED_FROM, end)), at + CRC_AT);
  return end;
}

/** The header at `at`, which must be there whole; undefined if it does not start with the salt. */
export function readHeader(bytes: Buffer, at: number, salt: Buffer): RecordHeader | undefined {
  if (bytes.compare(salt, 0, SALT_BYTES, at, at + SALT_BYTES) !== 0) return undefined;
  return {
    crc: bytes.readUInt32LE(at + CRC_AT),
    bodyBytes: bytes.readUInt32LE(at + 12),
    entryId: bytes.readUInt32LE(at + 16),
    messageCount: bytes.readUInt32LE(at + 20),
    publishedAtMs: bytes.readDoubleLE(at + 24),
    durableBytes: bytes.readDoubleLE(at + 32),
  };
}

/** The sum of a header, to go on from with the body. */
export function headerSum(bytes: Buffer, at: number): number {
  return crc32c(bytes.subarray(at + SUMMED_FROM, at + RECORD_HEADER_BYTES));
}

/** Whether a record that is there whole is what was written. */
export function isIntact(bytes: Buffer, at: number, { crc, bodyBytes }: RecordHeader): boolean {
  return crc32c(bytes.subarray(at + SUMMED_FROM, at + RECORD_HEADER_BYTES + bodyBytes)) === crc;
}
