import { ConfigError } from "@sluice/core";
import { ProtocolError } from "../wire/protocol-error.ts";
import type { Codec } from "./codec.ts";
import { lz4 } from "./lz4.ts";
import { none } from "./none.ts";
import { snappy } from "./snappy.ts";
import { zlib } from "./zlib.ts";
import { zstd } from "./zstd.ts";

export type CompressionName = "none" | "lz4" | "zlib" | "zstd" | "snappy";

export interface Compression {
  readonly name: CompressionName;
  /** Pulsar's `CompressionType`. */
  readonly wireType: number;
  readonly codec: Codec;
}

/** Indexed by Pulsar's `CompressionType`. */
const COMPRESSIONS: readonly Compression[] = [
  { name: "none", wireType: 0, codec: none },
  { name: "lz4", wireType: 1, codec: lz4 },
  { name: "zlib", wireType: 2, codec: zlib },
  { name: "zstd", wireType: 3, codec: zstd },
  { name: "snappy", wireType: 4, codec: snappy },
];

export function compressionOf(name: CompressionName): Compression {
  const found = COMPRESSIONS.find((compression) => compression.name === name);
  if (found !== undefined) return found;
  const names = COMPRESSIONS.map((compression) => compression.name).join(", ");
  throw new ConfigError(`compression is "${name}"; it must be one of ${names}`);
}

/** Throws a `ProtocolError` if Pulsar has no such compression. */
export function compressionOfWire(wireType: number): Compression {
  const found = COMPRESSIONS[wireType];
  if (found !== undefined) return found;
  throw new ProtocolError(`compression ${wireType} is unknown`);
}
