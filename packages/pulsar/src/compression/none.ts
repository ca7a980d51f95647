import { ProtocolError } from "../wire/protocol-error.ts";
import type { Codec } from "./codec.ts";

/** No compression; nothing is copied. */
export const none: Codec = {
  compress(bytes) {
    return bytes;
  },

  decompress(bytes, uncompressedBytes) {
    if (bytes.length !== uncompressedBytes)
      throw new ProtocolError(`a payload has ${bytes.length} bytes of ${uncompressedBytes}`);
    return bytes;
  },
};
