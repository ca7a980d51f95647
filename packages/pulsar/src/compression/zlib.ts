import { constants, deflateSync, inflateSync } from "node:zlib";
import { boundedInflate } from "./bounded-inflate.ts";
import type { Codec } from "./codec.ts";

/** Deflate with zlib's header and checksum, at its default level. */
export const zlib: Codec = {
  // Copied, because what zlib gives is the beginning of a chunk of 16 KiB.
  compress: (bytes) => new Uint8Array(deflateSync(bytes)),
  // Java's client flushes but does not finish: what it sends has neither an end nor a checksum.
  decompress: boundedInflate((bytes, bounds) =>
    inflateSync(bytes, { ...bounds, finishFlush: constants.Z_SYNC_FLUSH }),
  ),
};
