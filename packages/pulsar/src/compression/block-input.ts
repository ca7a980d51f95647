import { ProtocolError } from "../wire/protocol-error.ts";

/** Reads the lengths and distances of a compressed block, never beyond its end. */
export class BlockInput {
  readonly bytes: Uint8Array;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  byte(): number {
    const value = this.bytes[this.#at];
    if (value === undefined) throw new ProtocolError("a block ends too early");
    this.#at += 1;
    return value;
  }

  /** Unsigned, little-endian, one to four bytes. */
  whole(sizeBytes: number): number {
    let value = 0;
    for (let shift = 0; shift < sizeBytes * 8; shift += 8) value |= this.byte() << shift;
    return value >>> 0;
  }

  skip(length: number): void {
    this.#at += length;
  }
}
