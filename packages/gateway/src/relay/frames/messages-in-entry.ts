/** Magic numbers of the parts that may precede the metadata. */
const BROKER_ENTRY_MAGIC = 0x0e02;
const CHECKSUM_MAGIC = 0x0e01;

/** A magic number and four bytes: the length of the broker entry metadata, or a checksum. */
const MAGIC_BYTES = 6;

const VARINT = 0;
const FIXED_64 = 1;
const BYTES = 2;
const GROUP_START = 3;
const GROUP_END = 4;
const FIXED_32 = 5;

/** `num_messages_in_batch` of the metadata. */
const NUM_MESSAGES_IN_BATCH = (11 << 3) | VARINT;

/** From here on a byte is not the whole varint. */
const LONG = 0x80;

/** Bits of a varint of 10 bytes, the longest. */
const VARINT_BITS_MAX = 70;

/** The end of a field that cannot be read. */
const BROKEN = Infinity;

/**
 * The number of messages in the entry from `offset` on, by its metadata, which no client compresses or encrypts.
 * 1 if the entry is no batch, such as a chunk of a message, or if its metadata cannot be read.
 *
 * Fields of a group are taken for fields of the metadata, and of several counts the largest is taken: both can
 * only make an entry dearer for the client that sends it. All else is read as every parser of the format does,
 * so that metadata which is unreadable here is unreadable for consumers, too: they get no message of that entry.
 */
export function messagesInEntry(bytes: Uint8Array, offset: number): number {
  let at = offset;
  if (uint16At(bytes, at) === BROKER_ENTRY_MAGIC) at += MAGIC_BYTES + uint32At(bytes, at + 2);
  if (uint16At(bytes, at) === CHECKSUM_MAGIC) at += MAGIC_BYTES;
  const end = at + 4 + uint32At(bytes, at);
  if (end > bytes.length) return 1;
  let most = 1;
  for (at += 4; at < end;) {
    let tag = bytes[at] as number;
    if (tag < LONG) at++;
    else {
      tag = varintAt(bytes, at, end);
      at = afterVarint(bytes, at, end);
    }
    if (tag === NUM_MESSAGES_IN_BATCH) most = Math.max(most, varintAt(bytes, at, end));
    at = afterField(bytes, tag & 7, at, end);
  }
  return at === end ? most : 1;
}

/** Where the value of this wire type ends that begins here; beyond `end` if it is broken. */
function afterField(bytes: Uint8Array, wireType: number, at: number, end: number): number {
  switch (wireType) {
    case VARINT:
      return afterVarint(bytes, at, end);
    case BYTES: {
      const next = afterVarint(bytes, at, end);
      const length = varintAt(bytes, at, end);
      return length < 0 ? BROKEN : next + length;
    }
    case FIXED_64:
      return at + 8;
    case FIXED_32:
      return at + 4;
    case GROUP_START:
    case GROUP_END:
      return at;
    default:
      return BROKEN;
  }
}

function afterVarint(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end && (bytes[at] as number) >= LONG) at++;
  return at < end && (at - start) * 7 < VARINT_BITS_MAX ? at + 1 : BROKEN;
}

/** The lower 32 bits, as parsers read a tag, a length or a count; 0 of one that is cut off. */
function varintAt(bytes: Uint8Array, start: number, end: number): number {
  let value = 0;
  for (let at = start, bits = 0; at < end; at++, bits += 7) {
    const byte = bytes[at] as number;
    // A shift by 35 would be one by 3.
    if (bits < 32) value |= (byte & 0x7f) << bits;
    if (byte < LONG) return value;
  }
  return 0;
}

/** -1 beyond the end. */
function uint16At(bytes: Uint8Array, at: number): number {
  if (at + 2 > bytes.length) return -1;
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

/** Infinity beyond the end. */
function uint32At(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) return Infinity;
  return uint16At(bytes, at) * 65_536 + uint16At(bytes, at + 2);
}
