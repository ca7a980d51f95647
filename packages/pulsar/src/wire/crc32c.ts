/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;

/** Bytes per step. 16 are a fifth faster than 8, as measured; more gain nothing. */
const SLICES = 16;

/**
 * Table `s` holds, at `s * 256 + byte`, the effect of a byte that is followed by `s` more bytes of
 * its step.
 */
const TABLES: Int32Array = buildTables();

/**
 * The CRC-32C checksum of an entry, unsigned, of the bytes from `start` on. `seed` is the checksum
 * of the bytes before: `crc32c(b, crc32c(a))` is that of `a` and `b` together.
 */
export function crc32c(bytes: Uint8Array, seed: number = 0, start: number = 0): number {
  const tables = TABLES;
  const stepsEnd = bytes.length - ((bytes.length - start) % SLICES);
  let crc = ~seed;
  let at = start;
  // Every index is in bounds; V8 then removes `?? 0`.
  for (; at < stepsEnd; at += SLICES) {
    crc =
      (tables[0xf00 + ((bytes[at] ?? 0) ^ (crc & 0xff))] ?? 0) ^
      (tables[0xe00 + ((bytes[at + 1] ?? 0) ^ ((crc >>> 8) & 0xff))] ?? 0) ^
      (tables[0xd00 + ((bytes[at + 2] ?? 0) ^ ((crc >>> 16) & 0xff))] ?? 0) ^
      (tables[0xc00 + ((bytes[at + 3] ?? 0) ^ (crc >>> 24))] ?? 0) ^
      (tables[0xb00 + (bytes[at + 4] ?? 0)] ?? 0) ^
      (tables[0xa00 + (bytes[at + 5] ?? 0)] ?? 0) ^
      (tables[0x900 + (bytes[at + 6] ?? 0)] ?? 0) ^
      (tables[0x800 + (bytes[at + 7] ?? 0)] ?? 0) ^
      (tables[0x700 + (bytes[at + 8] ?? 0)] ?? 0) ^
      (tables[0x600 + (bytes[at + 9] ?? 0)] ?? 0) ^
      (tables[0x500 + (bytes[at + 10] ?? 0)] ?? 0) ^
      (tables[0x400 + (bytes[at + 11] ?? 0)] ?? 0) ^
      (tables[0x300 + (bytes[at + 12] ?? 0)] ?? 0) ^
      (tables[0x200 + (bytes[at + 13] ?? 0)] ?? 0) ^
      (tables[0x100 + (bytes[at + 14] ?? 0)] ?? 0) ^
      (tables[bytes[at + 15] ?? 0] ?? 0);
  }
  for (; at < bytes.length; at += 1)
    crc = (crc >>> 8) ^ (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}

function buildTables(): Int32Array {
  const tables = new Int32Array(SLICES * 256);
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? POLYNOMIAL : 0);
    tables[byte] = crc;
  }
  for (let at = 256; at < tables.length; at += 1) {
    const shorter = tables[at - 256] ?? 0;
    tables[at] = (shorter >>> 8) ^ (tables[shorter & 0xff] ?? 0);
  }
  return tables;
}
