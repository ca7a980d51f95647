/** Castagnoli's polynomial, reflected. */
const POLYNOMIAL = 0x82f63b78;

/** Bytes per step. 16 are a fifth faster than 8, as measured; more gain nothing. */
const SLICES = 16;

/**
 * Table `s` holds, at `s * 256 + byte`, the effect of a byte that is followed by `s` more bytes of
 * its step.
 */
const TABLES: Int32Array = buildTables();

/** From this size on, reading by words pays for the view that it needs. */
const WORDS_FROM_BYTES = 1_024;

/**
 * The CRC-32C checksum of an entry, unsigned, of the bytes from `start` on. `seed` is the checksum
 * of the bytes before: `crc32c(b, crc32c(a))` is that of `a` and `b` together.
 */
export function crc32c(bytes: Uint8Array, seed: number = 0, start: number = 0): number {
  const stepsEnd = bytes.length - ((bytes.length - start) % SLICES);
  const isLong = bytes.length - start >= WORDS_FROM_BYTES;
  let crc = isLong ? stepsByWords(bytes, ~seed, start) : stepsByBytes(bytes, ~seed, start);
  for (let at = stepsEnd; at < bytes.length; at += 1)
    crc = (crc >>> 8) ^ (TABLES[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
  return ~crc >>> 0;
}

// In both functions every index is in bounds; V8 then removes `?? 0`.

function stepsByBytes(bytes: Uint8Array, before: number, start: number): number {
  const tables = TABLES;
  let crc = before;
  for (let at = start; at + SLICES <= bytes.length; at += SLICES) {
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
  return crc;
}

/** The same with four loads of a word instead of sixteen of a byte: 0.7 of the time at 128 KiB. */
function stepsByWords(bytes: Uint8Array, before: number, start: number): number {
  const tables = TABLES;
  const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let crc = before;
  for (let at = start; at + SLICES <= bytes.length; at += SLICES) {
    const a = words.getInt32(at, true) ^ crc;
    const b = words.getInt32(at + 4, true);
    const c = words.getInt32(at + 8, true);
    const d = words.getInt32(at + 12, true);
    crc =
      (tables[0xf00 + (a & 0xff)] ?? 0) ^
      (tables[0xe00 + ((a >>> 8) & 0xff)] ?? 0) ^
      (tables[0xd00 + ((a >>> 16) & 0xff)] ?? 0) ^
      (tables[0xc00 + (a >>> 24)] ?? 0) ^
      (tables[0xb00 + (b & 0xff)] ?? 0) ^
      (tables[0xa00 + ((b >>> 8) & 0xff)] ?? 0) ^
      (tables[0x900 + ((b >>> 16) & 0xff)] ?? 0) ^
      (tables[0x800 + (b >>> 24)] ?? 0) ^
      (tables[0x700 + (c & 0xff)] ?? 0) ^
      (tables[0x600 + ((c >>> 8) & 0xff)] ?? 0) ^
      (tables[0x500 + ((c >>> 16) & 0xff)] ?? 0) ^
      (tables[0x400 + (c >>> 24)] ?? 0) ^
      (tables[0x300 + (d & 0xff)] ?? 0) ^
      (tables[0x200 + ((d >>> 8) & 0xff)] ?? 0) ^
      (tables[0x100 + ((d >>> 16) & 0xff)] ?? 0) ^
      (tables[d >>> 24] ?? 0);
  }
  return crc;
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
