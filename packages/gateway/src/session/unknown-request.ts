import type { UnknownCommand } from "@sluice/pulsar/wire";

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED_BYTES: ReadonlyMap<number, number> = new Map([
  [1, 8],
  [5, 4],
]);

/**
 * The request that a command of an unknown kind makes, if it has an id where Pulsar's requests have
 * it: first in the body, whose number is the command's. Transactions and topic watchers do.
 */
export function requestIdOf({ type, bytes }: UnknownCommand): bigint | undefined {
  const body = new Fields(bytes).find(type, LENGTH_DELIMITED);
  return body instanceof Uint8Array ? toBigInt(new Fields(body).find(1, VARINT)) : undefined;
}

function toBigInt(value: bigint | Uint8Array | undefined): bigint | undefined {
  return typeof value === "bigint" ? value : undefined;
}

/** A walk over the fields of a protobuf message of which only one is wanted. */
class Fields {
  readonly #bytes: Uint8Array;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** The first value of this field; undefined if it has none, or if the bytes make no sense. */
  find(number: number, wireType: number): bigint | Uint8Array | undefined {
    const wanted = (BigInt(number) << 3n) | BigInt(wireType);
    for (;;) {
      const tag = this.#varint();
      if (tag === undefined) return undefined;
      const value = this.#value(Number(tag & 7n));
      if (value === undefined || tag === wanted) return value;
    }
  }

  #value(wireType: number): bigint | Uint8Array | undefined {
    if (wireType === VARINT) return this.#varint();
    const length =
      wireType === LENGTH_DELIMITED ? Number(this.#varint() ?? -1n) : FIXED_BYTES.get(wireType);
    if (length === undefined || length < 0) return undefined;
    const end = this.#offset + length;
    if (end > this.#bytes.length) return undefined;
    const value = this.#bytes.subarray(this.#offset, end);
    this.#offset = end;
    return value;
  }

  #varint(): bigint | undefined {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#offset];
      if (byte === undefined) return undefined;
      this.#offset++;
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return undefined;
  }
}
