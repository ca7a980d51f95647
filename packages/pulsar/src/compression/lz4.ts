import { ProtocolError } from "../wire/protocol-error.ts";
import { BlockInput } from "./block-input.ts";
import { BlockOutput } from "./block-output.ts";
import type { Codec } from "./codec.ts";
import { MATCH_MIN_BYTES, MatchFinder } from "./match-finder.ts";

/** Lengths below this fit into half a token; a longer one continues in bytes of up to 255. */
const LENGTH_IN_TOKEN = 15;

/** Largest ratio of output to input: one byte adds at most 255 to a length. */
const BYTES_PER_BYTE_MAX = 255;

/**
 * LZ4's block format without a frame, as Pulsar uses it: sequences of a token with two lengths,
 * literals, and the distance of a match; the last sequence has literals only.
 */
export const lz4: Codec = {
  compress(bytes) {
    const output = new BlockOutput(bytes.length + Math.ceil(bytes.length / 255) + 16);
    const matches = new MatchFinder(bytes);
    while (matches.next()) {
      const literals = matches.matchAt - matches.literalsAt;
      const rest = matches.matchBytes - MATCH_MIN_BYTES;
      output.byte((Math.min(literals, LENGTH_IN_TOKEN) << 4) | Math.min(rest, LENGTH_IN_TOKEN));
      writeLength(output, literals);
      output.literals(bytes, matches.literalsAt, literals);
      output.byte(matches.distance & 0xff);
      output.byte(matches.distance >>> 8);
      writeLength(output, rest);
    }
    const literals = bytes.length - matches.literalsAt;
    output.byte(Math.min(literals, LENGTH_IN_TOKEN) << 4);
    writeLength(output, literals);
    output.literals(bytes, matches.literalsAt, literals);
    return output.written();
  },

  decompress(bytes, uncompressedBytes) {
    if (uncompressedBytes > bytes.length * BYTES_PER_BYTE_MAX)
      throw new ProtocolError(`${bytes.length} bytes of LZ4 cannot be ${uncompressedBytes}`);
    const input = new BlockInput(bytes);
    const output = new BlockOutput(uncompressedBytes);
    for (;;) {
      const token = input.byte();
      const literals = readLength(input, token >>> 4);
      output.literals(bytes, input.at, literals);
      input.skip(literals);
      if (input.isAtEnd) return output.whole();
      const distance = input.whole(2);
      output.repeat(distance, readLength(input, token & 0xf) + MATCH_MIN_BYTES);
    }
  },
};

/** Writes the rest of a length that does not fit into its token. */
function writeLength(output: BlockOutput, length: number): void {
  if (length < LENGTH_IN_TOKEN) return;
  let rest = length - LENGTH_IN_TOKEN;
  for (; rest >= 255; rest -= 255) output.byte(255);
  output.byte(rest);
}

function readLength(input: BlockInput, inToken: number): number {
  let length = inToken;
  if (inToken < LENGTH_IN_TOKEN) return length;
  for (;;) {
    const more = input.byte();
    length += more;
    if (more < 255) return length;
  }
}
