import { ConfigError } from "@sluice/core";
import * as nodeZlib from "node:zlib";
import { boundedInflate } from "./bounded-inflate.ts";
import type { Inflate } from "./bounded-inflate.ts";
import type { Codec } from "./codec.ts";

/** The part of node:zlib that only Node 22.15 and newer have. */
interface NodeZstd {
  readonly zstdCompressSync: (bytes: Uint8Array) => Uint8Array;
  readonly zstdDecompressSync: (
    bytes: Uint8Array,
    options: Parameters<Inflate>[1] & { readonly params: Readonly<Record<number, number>> },
  ) => Uint8Array;
}

/**
 * Largest window, log2 of bytes. A frame names the window that its decoder allocates; RFC 8878 asks
 * decoders for 8 MiB, more than the largest message.
 */
const WINDOW_MAX = { param: 100, log2Bytes: 23 } as const;

/** Zstandard of the running Node. */
export const zstd: Codec = zstdOf(nodeZlib);

/** Zstandard of `engine`; throws a `ConfigError` on every use if the engine lacks it. */
export function zstdOf(engine: object): Codec {
  if (!hasZstd(engine)) return { compress: refuse, decompress: refuse };
  return {
    // Copied, because node:zlib returns the start of a larger chunk.
    compress: (bytes) => new Uint8Array(engine.zstdCompressSync(bytes)),
    decompress: boundedInflate((bytes, bounds) =>
      engine.zstdDecompressSync(bytes, {
        ...bounds,
        params: { [WINDOW_MAX.param]: WINDOW_MAX.log2Bytes },
      }),
    ),
  };
}

function hasZstd(engine: object): engine is NodeZstd {
  return "zstdCompressSync" in engine && "zstdDecompressSync" in engine;
}

function refuse(): never {
  throw new ConfigError(
    "zstd needs Node 22.15 or later; lz4, zlib and snappy need no more than 20",
  );
}
