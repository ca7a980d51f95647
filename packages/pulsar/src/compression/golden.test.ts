/**
 * Blocks that others made, with the defaults of Python's zlib, lz4 4.4.5 (block format, without its
 * size), python-snappy 0.7.3 and zstandard 0.25.0. What we make may differ from theirs; what we
 * read must not.
 */
import * as nodeZlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { ProtocolError } from "../wire/protocol-error.ts";
import { compressionOf } from "./compression.ts";

const PAYLOADS: Readonly<Record<string, string>> = {
  nothing: "",
  "one byte": "a",
  text: "to be or not to be, that is the question; to be or not to be, that was the answer",
  "long runs": `${"a".repeat(300)}${"b".repeat(70)}${"ab".repeat(40)}`,
};

const MADE_BY_OTHERS = {
  lz4: {
    nothing: "00",
    "one byte": "1061",
    text: "d1746f206265206f72206e6f74200d00f2082c207468617420697320746865207175657374696f6e3b1d000f2a00012277612b0060616e73776572",
    "long runs": "1f610100ff191f620100321f61020037506261626162",
  },
  zlib: {
    nothing: "789c030000000001",
    "one byte": "789c4b040000620062",
    text: "789c2bc957484a55c82f52c8cb2f5128017174144a32124b14328b8174aa4261696a7149667e9e3544129bcaf24488d2c4bce2f2d422006fa71c13",
    "long runs": "789c4b4c1c05c48224aa80442a430061e4aaf1",
  },
  zstd: {
    nothing: "28b52ffd2000010000",
    "one byte": "28b52ffd200109000061",
    text: "28b52ffd2051dd0100c402746f206265206f72206e6f74202c207468617420697320746865207175657374696f6e3b7761616e7377657204004e0dd8140d81c206daf905",
    "long runs": "28b52ffd60c200850000206161626103009c4345007a4f548005",
  },
  snappy: {
    nothing: "00",
    "one byte": "010061",
    text: "5130746f206265206f72206e6f7420050d582c207468617420697320746865207175657374696f6e3b091d4e2a00347761732074686520616e73776572",
    "long runs": "c2030061fe0100fe0100fe0100fe0100aa01000062fe010005010061fe02003a0200",
  },
} as const;

// Zstandard is tested where Node has it: from 22.15 on.
const hasZstd = "zstdDecompressSync" in nodeZlib;

describe.each(["lz4", "zlib", "zstd", "snappy"] as const)("%s", (name) => {
  test.skipIf(name === "zstd" && !hasZstd).each(Object.entries(MADE_BY_OTHERS[name]))(
    "reads %s that another library wrote",
    (kind, block) => {
      const bytes = Buffer.from(PAYLOADS[kind] ?? "");
      const output = compressionOf(name).codec.decompress(Buffer.from(block, "hex"), bytes.length);
      expect(Buffer.from(output).toString()).toBe(PAYLOADS[kind]);
    },
  );
});

describe("snappy", () => {
  // By hand after the format's description: forms that the libraries above did not choose.
  test.each([
    ["a length of literals in two bytes", `0af4090030313233343536373839`],
    ["a length of literals in four bytes", `0afc0900000030313233343536373839`],
  ])("reads %s", (_, block) => {
    const output = compressionOf("snappy").codec.decompress(Buffer.from(block, "hex"), 10);
    expect(Buffer.from(output).toString()).toBe("0123456789");
  });

  test("reads a copy whose distance takes four bytes", () => {
    const block = Buffer.from("09086162631703000000", "hex");
    const output = compressionOf("snappy").codec.decompress(block, 9);
    expect(Buffer.from(output).toString()).toBe("abcabcabc");
  });
});

// One literal, and then four bytes from where nothing was written yet, or from nowhere.
test.each([
  ["lz4", "1061020000"],
  ["lz4", "1061000000"],
  ["snappy", "0500610102"],
  ["snappy", "0500610e0000"],
] as const)("%s refuses a distance before the beginning, and one of zero: %s", (name, block) => {
  const { codec } = compressionOf(name);
  expect(() => codec.decompress(Buffer.from(block, "hex"), 5)).toThrow(
    /repeats what was not there/,
  );
});

// One literal "a" in a frame that wants a window of 2^23 or of 2^24 bytes.
test.skipIf(!hasZstd)("zstd reserves no window of more than 8 MiB", () => {
  const { codec } = compressionOf("zstd");
  expect(codec.decompress(Buffer.from("28b52ffd006809000061", "hex"), 1)).toEqual(
    Uint8Array.of(0x61),
  );
  expect(() => codec.decompress(Buffer.from("28b52ffd007009000061", "hex"), 1)).toThrow(
    ProtocolError,
  );
});

test("zlib decompresses flushed but unfinished output, as Java's client sends it", () => {
  const sent = Buffer.from("789c4a4c4fcccc5348cc4b5148446501000000ffff", "hex");
  const output = compressionOf("zlib").codec.decompress(sent, 25);
  expect(Buffer.from(output).toString()).toBe("again and again and again");
});
