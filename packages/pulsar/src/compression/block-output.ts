import { ProtocolError } from "../wire/protocol-error.ts";

/** Bytes up to which a loop is faster than `Buffer.copy`, as measured. */
const LOOP_MAX_BYTES = 64;

/** The output of an LZ4 or Snappy block: literals, and copies of earlier output. */
export class BlockOutput {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(sizeBytes: number) {
    this.#bytes = new Uint8Array(sizeBytes);
  }

  byte(value: number): void {
    this.#bytes[this.#at] = value;
    this.#at += 1;
  }

  /** Appends `length` bytes of `source` from offset `from`. */
  literals(source: Uint8Array, from: number, length: number): void {
    if (from + length > source.length) throw new ProtocolError("a block ends within literals");
    const at = this.#claim(length);
    const bytes = this.#bytes;
    if (length > LOOP_MAX_BYTES) {
      bytes.set(source.subarray(from, from + length), at);
      return;
    }
    for (let step = 0; step < length; step += 1) bytes[at + step] = source[from + step] ?? 0;
  }

  /** Appends `length` bytes from `distance` bytes back; the copy may overlap its own output. */
  repeat(distance: number, length: number): void {
    if (distance === 0 || distance > this.#at)
      throw new ProtocolError("a block repeats what was not there");
    const at = this.#claim(length);
    const bytes = this.#bytes;
    const from = at - distance;
    if (length > LOOP_MAX_BYTES && distance >= length) {
      bytes.copyWithin(at, from, from + length);
      return;
    }
    for (let step = 0; step < length; step += 1) bytes[at + step] = bytes[from + step] ?? 0;
  }

  /** The whole output; throws unless it is full. */
  whole(): Uint8Array {
    if (this.#at < this.#bytes.length)
      throw new ProtocolError(`a block has ${this.#at} bytes of ${this.#bytes.length}`);
    return this.#bytes;
  }

  /** A copy, so that no larger buffer is kept alive. */
  written(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  /** Advances by `length` and returns the offset before. */
  #claim(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at)
      throw new ProtocolError(`a block has more than ${this.#bytes.length} bytes`);
    this.#at = at + length;
    return at;
  }
}
