import { ConfigError } from "@sluice/core";
import * as nodeZlib from "node:zlib";
import { boundedInflate } from "./bounded-inflate.ts";
import type { Inflate } from "./bounded-inflate.ts";
import type { Codec } from "./codec.ts";

/** The part of node:zlib that not every Node has. */
interface NodeZstd {
  readonly zstdCompressSync: (bytes: Uint8Array) => Uint8Array;
  readonly zstdDecompressSync: (
    bytes: Uint8Array,
    options: Parameters<Inflate>[1] & { readonly params: Readonly<Record<number, number>> },
  ) => Uint8Array;
}

/**
 * A frame names the window that its decoder has to reserve. 8 MiB is what RFC 8878 wants of all,
 * and more than the largest message.
 */
const WINDOW_MAX = { param: 100, log2Bytes: 23 } as const;

/** Zstandard by the Node that runs. */
export const zstd: Codec = zstdOf(nodeZlib);

/** Zstandard by `engine`; if that cannot, every use of it is a `ConfigError`. */
export function zstdOf(engine: object): Codec {
  if (!hasZstd(engine)) return { compress: refuse, decompress: refuse };
  return {
    // Copied, because what Node gives is the beginning of a larger chunk.
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
