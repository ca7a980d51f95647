import { ProtocolError } from "./protocol-error.ts";

/** Protobuf's wire types: the low three bits of a tag. */
export const WIRE_TYPE = {
  varint: 0,
  fixed64: 1,
  bytes: 2,
  groupStart: 3,
  groupEnd: 4,
  fixed32: 5,
};

/** Nesting of messages and groups. Pulsar's own messages need 4. */
const DEPTH_MAX = 32;

/** Varint bytes up to which a number is exact as a double: 49 bits. */
const EXACT_BYTES = 7;

/**
 * The numbers below 1024, made once: ledgers, consumers, producers and first requests have them. A
 * BigInt takes 24 bytes, which counts where an ACK names 20,000 messages.
 */
const SMALL: readonly bigint[] = Array.from({ length: 1024 }, (_, value) => BigInt(value));

/**
 * Reads the fields of one protobuf message from part of a buffer. Reading beyond that part is a
 * `ProtocolError`.
 */
export class ProtoReader {
  readonly #bytes: Buffer;
  #depth: number;
  #end: number;
  #offset: number;

  constructor(bytes: Buffer, start: number = 0, end: number = bytes.length, depth: number = 0) {
    if (depth > DEPTH_MAX) throw new ProtocolError(`messages are nested deeper than ${DEPTH_MAX}`);
    this.#bytes = bytes;
    this.#offset = start;
    this.#end = end;
    this.#depth = depth;
  }

  get offset(): number {
    return this.#offset;
  }

  get isAtEnd(): boolean {
    return this.#offset >= this.#end;
  }

  /** Field number and wire type. Field numbers are 1 to 2^29 − 1. */
  tag(): number {
    const tag = this.uint32();
    if (tag >>> 3 === 0) throw new ProtocolError("a field has the number 0");
    return tag;
  }

  /** The low 32 bits of a varint, as protobuf defines all narrower types. */
  uint32(): number {
    const bytes = this.#bytes;
    let offset = this.#offset;
    if (offset < this.#end) {
      const first = bytes[offset] ?? 0;
      if (first < 0x80) {
        this.#offset = offset + 1;
        return first;
      }
    }
    let value = 0;
    for (let index = 0; index < 10; index++) {
      if (offset >= this.#end) throw cutShort();
      const byte = bytes[offset++] ?? 0;
      if (index < 5) value |= (byte & 0x7f) << (index * 7);
      if (byte < 0x80) {
        this.#offset = offset;
        return value >>> 0;
      }
    }
    throw tooLong();
  }

  int32(): number {
    return this.uint32() | 0;
  }

  bool(): boolean {
    return this.uint64() !== 0n;
  }

  uint64(): bigint {
    const bytes = this.#bytes;
    const start = this.#offset;
    const exactEnd = Math.min(this.#end, start + EXACT_BYTES);
    let value = 0;
    let scale = 1;
    for (let offset = start; offset < exactEnd; offset++) {
      const byte = bytes[offset] ?? 0;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.#offset = offset + 1;
        return SMALL[value] ?? BigInt(value);
      }
      scale *= 128;
    }
    return this.#wideUint64(value, exactEnd);
  }

  int64(): bigint {
    return BigInt.asIntN(64, this.uint64());
  }

  double(): number {
    const start = this.#offset;
    this.#advance(8);
    return this.#bytes.readDoubleLE(start);
  }

  string(): string {
    const length = this.#length();
    const start = this.#offset;
    this.#offset = start + length;
    return this.#bytes.toString("utf8", start, this.#offset);
  }

  /** A view, not a copy. */
  bytes(): Buffer {
    const length = this.#length();
    const start = this.#offset;
    this.#offset = start + length;
    return this.#bytes.subarray(start, this.#offset);
  }

  /** A reader of the next message; this reader continues behind it. */
  message(): ProtoReader {
    const length = this.#length();
    const start = this.#offset;
    this.#offset = start + length;
    return new ProtoReader(this.#bytes, start, this.#offset, this.#depth + 1);
  }

  /**
   * Enters the next message: until `leave`, this reader ends where that message does. Answers what
   * `leave` needs. Without a reader of its own, a message in a list of thousands costs 72 bytes less.
   */
  enter(): number {
    const end = this.#end;
    const length = this.#length();
    if (++this.#depth > DEPTH_MAX)
      throw new ProtocolError(`messages are nested deeper than ${DEPTH_MAX}`);
    this.#end = this.#offset + length;
    return end;
  }

  /** Continues behind the message that was entered. */
  leave(end: number): void {
    this.#depth--;
    this.#offset = this.#end;
    this.#end = end;
  }

  /** Moves back to an earlier `offset`. */
  rewind(offset: number): this {
    this.#offset = offset;
    return this;
  }

  /** A view of the bytes read since `start`. */
  since(start: number): Buffer {
    return this.#bytes.subarray(start, this.#offset);
  }

  /** Skips the value of a field. Groups are obsolete, but a peer may send them. */
  skip(tag: number): void {
    let depth = 0;
    let current = tag;
    for (;;) {
      switch (current & 7) {
        case WIRE_TYPE.varint:
          this.#skipVarint();
          break;
        case WIRE_TYPE.fixed64:
          this.#advance(8);
          break;
        case WIRE_TYPE.bytes:
          this.#advance(this.#length());
          break;
        case WIRE_TYPE.groupStart:
          if (++depth > DEPTH_MAX) throw new ProtocolError("groups are nested too deep");
          break;
        case WIRE_TYPE.groupEnd:
          if (--depth < 0) throw new ProtocolError("a group ends that did not start");
          break;
        case WIRE_TYPE.fixed32:
          this.#advance(4);
          break;
        default:
          throw new ProtocolError(`wire type ${current & 7} does not exist`);
      }
      if (depth === 0) return;
      current = this.tag();
    }
  }

  #wideUint64(low: number, from: number): bigint {
    let value = BigInt(low);
    for (let offset = from, index = EXACT_BYTES; index < 10; offset++, index++) {
      if (offset >= this.#end) throw cutShort();
      const byte = this.#bytes[offset] ?? 0;
      value |= BigInt(byte & 0x7f) << BigInt(index * 7);
      if (byte < 0x80) {
        this.#offset = offset + 1;
        return BigInt.asUintN(64, value);
      }
    }
    throw tooLong();
  }

  #skipVarint(): void {
    for (let index = 0; index < 10; index++) {
      if (this.#offset >= this.#end) throw cutShort();
      if ((this.#bytes[this.#offset++] ?? 0) < 0x80) return;
    }
    throw tooLong();
  }

  #length(): number {
    const length = this.uint32();
    if (length > this.#end - this.#offset) throw cutShort();
    return length;
  }

  #advance(count: number): void {
    if (count > this.#end - this.#offset) throw cutShort();
    this.#offset += count;
  }
}

function cutShort(): ProtocolError {
  return new ProtocolError("a field goes beyond the end of its message");
}

function tooLong(): ProtocolError {
  return new ProtocolError("a varint is longer than 10 bytes");
}
