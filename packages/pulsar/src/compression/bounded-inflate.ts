import { ProtocolError } from "../wire/protocol-error.ts";

/** The signature of node:zlib's synchronous decompressions. */
export type Inflate = (
  bytes: Uint8Array,
  bounds: { readonly chunkSize: number; readonly maxOutputLength: number },
) => Uint8Array;

/** The smallest chunk size that node:zlib accepts, in bytes. */
const CHUNK_MIN_BYTES = 64;

/**
 * Node's default chunk size, in bytes. A chunk of the claimed size would be allocated before the
 * claim is checked.
 */
const CHUNK_MAX_BYTES = 16_384;

/** A `Codec`'s `decompress` on top of a function of node:zlib. */
export function boundedInflate(inflate: Inflate): (bytes: Uint8Array, size: number) => Uint8Array {
  return (bytes, uncompressedBytes) => {
    // One byte more than expected, so that the end is found within the first chunk.
    const chunkBytes = Math.min(CHUNK_MAX_BYTES, uncompressedBytes + 1);
    const output = inflateOrRefuse(inflate, bytes, {
      chunkSize: Math.max(CHUNK_MIN_BYTES, chunkBytes),
      maxOutputLength: Math.max(1, uncompressedBytes),
    });
    if (output.length !== uncompressedBytes)
      throw new ProtocolError(`a payload has ${output.length} bytes of ${uncompressedBytes}`);
    // Copied, because a small Buffer keeps Node's whole pool alive.
    return new Uint8Array(output);
  };
}

function inflateOrRefuse(inflate: Inflate, ...input: Parameters<Inflate>): Uint8Array {
  try {
    return inflate(...input);
  } catch (cause) {
    throw new ProtocolError("a payload is not what its compression makes", { cause });
  }
}
