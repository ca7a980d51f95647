import { ConfigError } from "@sluice/core";
import * as fc from "fast-check";
import * as nodeZlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../wire/protocol-error.ts";
import { compressionOf, compressionOfWire } from "./compression.ts";
import type { CompressionName } from "./compression.ts";
import { zstdOf } from "./zstd.ts";

const MIB = 1024 * 1024;

// Zstandard is tested where Node has it: from 22.15 on.
const hasZstd = "zstdCompressSync" in nodeZlib;
const names: readonly CompressionName[] = hasZstd
  ? ["none", "lz4", "zlib", "zstd", "snappy"]
  : ["none", "lz4", "zlib", "snappy"];

const text = fc
  .array(fc.constantFrom("order ", "paid ", "shipped ", "42 ", "é "), {
    maxLength: 800,
    size: "max",
  })
  .map((words) => new TextEncoder().encode(words.join("")));
const noise = fc.uint8Array({ maxLength: 3000, size: "max" });
const runs = fc
  .array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 700 })), { maxLength: 20, size: "max" })
  .map((parts) =>
    Uint8Array.from(parts.flatMap(([byte, count]) => Array<number>(count).fill(byte))),
  );
const payload = fc.oneof(text, noise, runs);

describe.each(names)("%s", (name) => {
  const { codec } = compressionOf(name);

  test("decompresses what it compressed", () => {
    fc.assert(
      fc.property(payload, (bytes) => {
        const output = codec.decompress(codec.compress(bytes), bytes.length);
        expect(Buffer.compare(output, bytes)).toBe(0);
      }),
    );
  });

  test.each([0, 1, 11, 12, 13, 65_535, 65_536, 65_537, MIB - 1, MIB])(
    "gives back %i bytes of any kind",
    (sizeBytes) => {
      for (const bytes of [zeros(sizeBytes), counting(sizeBytes), scrambled(sizeBytes)]) {
        const output = codec.decompress(codec.compress(bytes), sizeBytes);
        expect(Buffer.compare(output, bytes)).toBe(0);
      }
    },
  );

  test("changes neither a payload nor its compressed form", () => {
    const bytes = counting(5000);
    const compressed = codec.compress(bytes);
    const before = compressed.slice();
    codec.decompress(compressed, bytes.length);
    expect([bytes, compressed]).toEqual([counting(5000), before]);
  });

  test("keeps no more memory alive than its results take", () => {
    const bytes = counting(200);
    const compressed = codec.compress(bytes);
    expect(compressed.buffer.byteLength).toBeLessThanOrEqual(bytes.length);
    expect(codec.decompress(compressed, 200).buffer.byteLength).toBeLessThanOrEqual(200);
  });

  test("reads and writes parts of larger buffers", () => {
    const around = counting(3000);
    const bytes = around.subarray(1001, 2002);
    const compressed = codec.compress(bytes);
    const shifted = new Uint8Array(compressed.length + 7);
    shifted.set(compressed, 3);
    const output = codec.decompress(shifted.subarray(3, 3 + compressed.length), bytes.length);
    expect(output).toEqual(bytes.slice());
  });

  test("refuses to produce more or less than the given size", () => {
    const bytes = new TextEncoder().encode("to be or not to be, that is the question to be or not");
    const compressed = codec.compress(bytes);
    for (const wrong of [0, 1, bytes.length - 1, bytes.length + 1, 5 * MIB])
      expect(() => codec.decompress(compressed, wrong), String(wrong)).toThrow(ProtocolError);
  });

  test("refuses truncated input at every length, unless only a checksum is missing", () => {
    const bytes = new TextEncoder().encode("to be or not to be ".repeat(20));
    const compressed = codec.compress(bytes);
    // Deflate's last block may end within the byte before zlib's checksum.
    const checksumBytes = name === "zlib" ? 5 : 0;
    for (let length = 0; length < compressed.length - checksumBytes; length += 1)
      expect(() => codec.decompress(compressed.subarray(0, length), bytes.length)).toThrow(
        ProtocolError,
      );
  });

  test("ends in the given size or in a protocol error for any flipped bit", () => {
    const bytes = new TextEncoder().encode("to be or not to be, that is the question; ".repeat(4));
    const compressed = codec.compress(bytes);
    for (let at = 0; at < compressed.length; at += 1) {
      for (let flip = 1; flip < 256; flip *= 2) {
        const changed = compressed.slice();
        changed[at] = (changed[at] ?? 0) ^ flip;
        expectSizeOrError(name, changed, bytes.length);
      }
    }
  });

  test("ends in the given size or in a protocol error for random bytes", () => {
    fc.assert(
      fc.property(noise, fc.nat(20_000), (bytes, sizeBytes) => {
        expectSizeOrError(name, bytes, sizeBytes);
      }),
      { numRuns: 500 },
    );
  });
});

test.each(["lz4", "snappy"] as const)("%s makes text smaller, and noise hardly larger", (name) => {
  const { codec } = compressionOf(name);
  const prose = new TextEncoder().encode(
    '{"order":1234,"state":"paid","total":99.5}\n'.repeat(300),
  );
  expect(codec.compress(prose).length).toBeLessThan(prose.length / 10);
  expect(codec.compress(scrambled(MIB)).length).toBeLessThan(MIB * 1.01);
});

test.each(["lz4", "snappy"] as const)("%s reserves nothing for a claim that cannot be", (name) => {
  const { codec } = compressionOf(name);
  // The size that Snappy wants in its first bytes, and then hardly more.
  const claim = Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x04, 0);
  expect(() => codec.decompress(claim, 2 ** 30)).toThrow(/cannot be/);
});

test("a Node without Zstandard says which Node has it, on first use", () => {
  const codec = zstdOf({});
  expect(() => codec.compress(new Uint8Array(1))).toThrow(ConfigError);
  expect(() => codec.decompress(new Uint8Array(1), 1)).toThrow(/Node 22\.15/);
});

test("names and numbers are Pulsar's", () => {
  const numbers = { none: 0, lz4: 1, zlib: 2, zstd: 3, snappy: 4 } as const;
  for (const [name, wireType] of Object.entries(numbers)) {
    expect(compressionOfWire(wireType)).toMatchObject({ name, wireType });
    expect(compressionOf(compressionOfWire(wireType).name)).toBe(compressionOfWire(wireType));
  }
  for (const wireType of [5, -1, 1.5])
    expect(() => compressionOfWire(wireType)).toThrow(ProtocolError);
  const misspelt: string = "gzip";
  expect(() => compressionOf(misspelt as CompressionName)).toThrow(
    'compression is "gzip"; it must be one of none, lz4, zlib, zstd, snappy',
  );
});

function expectSizeOrError(name: CompressionName, bytes: Uint8Array, sizeBytes: number): void {
  try {
    expect(compressionOf(name).codec.decompress(bytes, sizeBytes).length).toBe(sizeBytes);
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
  }
}

function zeros(sizeBytes: number): Uint8Array {
  return new Uint8Array(sizeBytes);
}

/** Repeats itself beyond the 64 KiB that a match can reach back, with short runs within. */
function counting(sizeBytes: number): Uint8Array {
  return new Uint8Array(sizeBytes).map((_, at) => (at >>> 4) ^ (at >>> 12));
}

/** Bytes without repetitions that matter, the same in every run. */
function scrambled(sizeBytes: number): Uint8Array {
  let state = 1;
  return new Uint8Array(sizeBytes).map(() => {
    state = Math.imul(state, 1_664_525) + 1_013_904_223;
    return state >>> 24;
  });
}
