import { ProtocolError } from "../wire/protocol-error.ts";

/** Up to this a loop is faster than a call into the engine. */
const LOOP_MAX_BYTES = 64;

/** Where a block of LZ4 or Snappy is written: literals, and repetitions of what is there already. */
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

  /** Appends `length` bytes of `source`, from `from` on. */
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

  /** Appends `length` bytes from `distance` bytes back; what it has just written counts. */
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

  /** All of it, which must be full. */
  whole(): Uint8Array {
    if (this.#at < this.#bytes.length)
      throw new ProtocolError(`a block has ${this.#at} bytes of ${this.#bytes.length}`);
    return this.#bytes;
  }

  /** A copy of what was written, so that no more memory is held than that. */
  written(): Uint8Array {
    return this.#bytes.slice(0, this.#at);
  }

  /** Moves on by `length` and gives where that begins. */
  #claim(length: number): number {
    const at = this.#at;
    if (length > this.#bytes.length - at)
      throw new ProtocolError(`a block has more than ${this.#bytes.length} bytes`);
    this.#at = at + length;
    return at;
  }
}
