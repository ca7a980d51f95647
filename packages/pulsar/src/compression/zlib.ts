import { constants, deflateSync, inflateSync } from "node:zlib";
import { boundedInflate } from "./bounded-inflate.ts";
import type { Codec } from "./codec.ts";

/** Deflate with zlib's header and checksum, default level. */
export const zlib: Codec = {
  // Copied, because node:zlib returns the start of a 16 KiB chunk.
  compress: (bytes) => new Uint8Array(deflateSync(bytes)),
  // Pulsar's Java client flushes without finishing: its output has no end mark and no checksum.
  decompress: boundedInflate((bytes, bounds) =>
    inflateSync(bytes, { ...bounds, finishFlush: constants.Z_SYNC_FLUSH }),
  ),
};
