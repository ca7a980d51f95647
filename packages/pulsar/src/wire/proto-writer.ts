const FIRST_BYTES = 256;

/** Below 128, so that the length is one byte. */
const SHORT_CHARS = 48;

/** Whole numbers below this are exact as doubles. */
const EXACT_MAX = 2n ** 53n;

/**
 * Writes protobuf fields into a buffer that grows. What is written is bounded by its caller: a
 * command by the strings in it, an entry by the largest frame.
 */
export class ProtoWriter {
  #bytes: Buffer;
  #offset: number;

  /** The first `reserved` bytes are left for the caller to fill; about `expected` will follow. */
  constructor(reserved: number = 0, expected: number = 0) {
    this.#bytes = Buffer.allocUnsafe(FIRST_BYTES + reserved + expected);
    this.#offset = reserved;
  }

  /** Leaves bytes for the caller to fill. */
  skip(count: number): void {
    this.#reserve(count);
    this.#offset += count;
  }

  get offset(): number {
    return this.#offset;
  }

  /** What was written: a view, which later writes may change. */
  finish(): Buffer {
    return this.#bytes.subarray(0, this.#offset);
  }

  uint32(value: number): void {
    this.#reserve(5);
    let rest = value >>> 0;
    while (rest >= 0x80) {
      this.#bytes[this.#offset++] = (rest & 0x7f) | 0x80;
      rest >>>= 7;
    }
    this.#bytes[this.#offset++] = rest;
  }

  /** Negative numbers take ten bytes, as those of 64 bits do. */
  int32(value: number): void {
    if (value >= 0) this.uint32(value);
    else this.uint64(BigInt.asUintN(64, BigInt(value)));
  }

  bool(value: boolean): void {
    this.uint32(value ? 1 : 0);
  }

  /** Takes -1n for 2^64 - 1: peers say "none" that way. */
  uint64(value: bigint): void {
    this.#reserve(10);
    let wide = BigInt.asUintN(64, value);
    while (wide >= EXACT_MAX) {
      this.#bytes[this.#offset++] = Number(wide & 0x7fn) | 0x80;
      wide >>= 7n;
    }
    let rest = Number(wide);
    while (rest >= 0x80) {
      this.#bytes[this.#offset++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#offset++] = rest;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#offset = this.#bytes.writeDoubleLE(value, this.#offset);
  }

  string(value: string): void {
    if (value.length <= SHORT_CHARS && this.#shortAscii(value)) return;
    const length = Buffer.byteLength(value);
    this.uint32(length);
    this.#reserve(length);
    this.#offset += this.#bytes.write(value, this.#offset, "utf8");
  }

  bytes(value: Uint8Array): void {
    this.uint32(value.length);
    this.raw(value);
  }

  /** Bytes as they are, without a length. */
  raw(value: Uint8Array): void {
    this.#reserve(value.length);
    this.#bytes.set(value, this.#offset);
    this.#offset += value.length;
  }

  /** Four bytes, big-endian: the framing around the messages is not protobuf. */
  fixedUint32(value: number): void {
    this.#reserve(4);
    this.#offset = this.#bytes.writeUInt32BE(value, this.#offset);
  }

  /** Begins a message within this one. Its length is written before it once it has ended. */
  open(): number {
    this.#reserve(1);
    return this.#offset++;
  }

  /** Ends what `open` began. Most are shorter than 128 bytes; longer ones are moved. */
  close(opened: number): void {
    const start = opened + 1;
    const length = this.#offset - start;
    if (length < 0x80) {
      this.#bytes[opened] = length;
      return;
    }
    const shift = varintBytes(length) - 1;
    this.#reserve(shift);
    this.#bytes.copyWithin(start + shift, start, this.#offset);
    const end = this.#offset + shift;
    this.#offset = opened;
    this.uint32(length);
    this.#offset = end;
  }

  /** Names and keys are short and ASCII: faster here than through a call out of JavaScript. */
  #shortAscii(value: string): boolean {
    const { length } = value;
    this.#reserve(length + 1);
    const start = this.#offset + 1;
    for (let index = 0; index < length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      this.#bytes[start + index] = code;
    }
    this.#bytes[this.#offset] = length;
    this.#offset = start + length;
    return true;
  }

  #reserve(count: number): void {
    const needed = this.#offset + count;
    if (needed <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(needed, this.#bytes.length * 2));
    this.#bytes.copy(larger, 0, 0, this.#offset);
    this.#bytes = larger;
  }
}

function varintBytes(value: number): number {
  let count = 1;
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) count++;
  return count;
}
