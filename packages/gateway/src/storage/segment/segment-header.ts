import type { Random } from "@sluice/core";
import { crc32c } from "@sluice/pulsar/wire";
import { SALT_BYTES } from "./record.ts";

/** How a segment file begins: magic and version, ledger id, salt, CRC-32C of these. */
export const SEGMENT_HEADER_BYTES = 28;

const MAGIC = "SLUICEL1";
const SUMMED_BYTES = 24;

/**
 * What each record of a segment starts with. Nobody outside can know it, so no payload can pass for
 * a record when a damaged segment is searched, and no payload can make that search slow.
 */
export function drawSalt(random: Random): Buffer {
  const salt = Buffer.alloc(SALT_BYTES);
  salt.writeUInt32LE(Math.floor(random.next() * 2 ** 32), 0);
  salt.writeUInt32LE(Math.floor(random.next() * 2 ** 32), 4);
  return salt;
}

export function encodeSegmentHeader(ledgerId: number, salt: Buffer): Buffer {
  const header = Buffer.alloc(SEGMENT_HEADER_BYTES);
  header.write(MAGIC, 0, "latin1");
  header.writeUInt32LE(ledgerId, 8);
  header.set(salt, 12);
  header.writeUInt32LE(crc32c(header.subarray(0, SUMMED_BYTES)), SUMMED_BYTES);
  return header;
}

/** The salt, or undefined if this is not the header of that segment. */
export function decodeSegmentHeader(header: Buffer, ledgerId: number): Buffer | undefined {
  const salt = Buffer.from(header.subarray(12, 12 + SALT_BYTES));
  const isOurs =
    header.length === SEGMENT_HEADER_BYTES && header.equals(encodeSegmentHeader(ledgerId, salt));
  return isOurs ? salt : undefined;
}
