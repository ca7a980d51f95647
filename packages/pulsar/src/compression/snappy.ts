import { ProtocolError } from "../wire/protocol-error.ts";
import { BlockInput } from "./block-input.ts";
import { BlockOutput } from "./block-output.ts";
import type { Codec } from "./codec.ts";
import { MatchFinder } from "./match-finder.ts";

/**
 * Longest literal whose length fits into the tag; tags 60 to 63 announce one to four length bytes.
 */
const LITERALS_IN_TAG = 60;

/** Longest copy, in bytes. */
const COPY_MAX_BYTES = 64;

/** A short copy from a small distance takes two bytes instead of three. */
const SHORT_COPY = { minBytes: 4, maxBytes: 11, distanceMax: 0x7ff } as const;

/** Element kinds: the lowest two bits of a tag. */
const LITERALS = 0;
const COPY_1 = 1;
const COPY_2 = 2;

/** Largest ratio of output to input: three bytes for a copy of 64. */
const BYTES_PER_BYTE_MAX = 22;

/** Snappy's raw format without a frame: the size as a varint, then literals and copies. */
export const snappy: Codec = {
  compress(bytes) {
    const output = new BlockOutput(32 + bytes.length + Math.ceil(bytes.length / 6));
    writeSize(output, bytes.length);
    const matches = new MatchFinder(bytes);
    while (matches.next()) {
      writeLiterals(output, bytes.subarray(matches.literalsAt, matches.matchAt));
      writeCopies(output, matches.distance, matches.matchBytes);
    }
    writeLiterals(output, bytes.subarray(matches.literalsAt));
    return output.written();
  },

  decompress(bytes, uncompressedBytes) {
    const input = new BlockInput(bytes);
    const claimedBytes = readSize(input);
    if (claimedBytes !== uncompressedBytes || claimedBytes > bytes.length * BYTES_PER_BYTE_MAX)
      throw new ProtocolError(
        `${bytes.length} bytes of Snappy for ${claimedBytes} cannot be ${uncompressedBytes}`,
      );
    const output = new BlockOutput(uncompressedBytes);
    while (!input.isAtEnd) readElement(input, output);
    return output.whole();
  },
};

function readElement(input: BlockInput, output: BlockOutput): void {
  const tag = input.byte();
  const inTag = tag >>> 2;
  switch (tag & 3) {
    case LITERALS: {
      const length = inTag < LITERALS_IN_TAG ? inTag + 1 : input.whole(inTag - 59) + 1;
      output.literals(input.bytes, input.at, length);
      input.skip(length);
      return;
    }
    case COPY_1:
      output.repeat(((tag >>> 5) << 8) | input.byte(), (inTag & 7) + SHORT_COPY.minBytes);
      return;
    case COPY_2:
      output.repeat(input.whole(2), inTag + 1);
      return;
    default:
      output.repeat(input.whole(4), inTag + 1);
  }
}

function writeLiterals(output: BlockOutput, literals: Uint8Array): void {
  if (literals.length === 0) return;
  const inTag = literals.length - 1;
  if (inTag < LITERALS_IN_TAG) {
    output.byte((inTag << 2) | LITERALS);
  } else {
    const lengthBytes = Math.ceil((32 - Math.clz32(inTag)) / 8);
    output.byte(((LITERALS_IN_TAG + lengthBytes - 1) << 2) | LITERALS);
    for (let at = 0; at < lengthBytes; at += 1) output.byte((inTag >>> (8 * at)) & 0xff);
  }
  output.literals(literals, 0, literals.length);
}

function writeCopies(output: BlockOutput, distance: number, length: number): void {
  let rest = length;
  while (rest > 0) {
    const copyBytes = Math.min(rest, COPY_MAX_BYTES);
    writeCopy(output, distance, copyBytes);
    rest -= copyBytes;
  }
}

function writeCopy(output: BlockOutput, distance: number, length: number): void {
  const { minBytes, maxBytes, distanceMax } = SHORT_COPY;
  if (length >= minBytes && length <= maxBytes && distance <= distanceMax) {
    output.byte(((distance >>> 8) << 5) | ((length - minBytes) << 2) | COPY_1);
    output.byte(distance & 0xff);
    return;
  }
  output.byte(((length - 1) << 2) | COPY_2);
  output.byte(distance & 0xff);
  output.byte(distance >>> 8);
}

/** A varint: seven bits per byte, lowest first; the highest bit says that another byte follows. */
function writeSize(output: BlockOutput, sizeBytes: number): void {
  let rest = sizeBytes;
  for (; rest > 0x7f; rest >>>= 7) output.byte((rest & 0x7f) | 0x80);
  output.byte(rest);
}

function readSize(input: BlockInput): number {
  let sizeBytes = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = input.byte();
    sizeBytes += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return sizeBytes;
  }
  throw new ProtocolError("a size in Snappy takes more than five bytes");
}
