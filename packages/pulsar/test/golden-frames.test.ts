/** Frames that real clients and a real broker sent, as they stood on the wire. */
import { readFileSync } from "node:fs";
import * as zlib from "node:zlib";
import { describe, expect, test } from "vitest";
import { compressionOfWire } from "../src/compression/compression.ts";
import { BatchWriter, splitBatch } from "../src/wire/batch.ts";
import { decodeMetadata, encodeEntry, isIntact, splitEntry } from "../src/wire/entry.ts";
import { decodeFrame, encodeFrameHead } from "../src/wire/frame.ts";
import { bufferOf } from "../src/wire/message.ts";

interface GoldenFrame {
  readonly from: string;
  readonly command: string;
  readonly hex: string;
}

const golden = JSON.parse(
  readFileSync(new URL("golden-frames.json", import.meta.url), "utf8"),
) as readonly GoldenFrame[];

const hasZstd = "zstdDecompressSync" in zlib;

/** Our names are those of the wire, but for one that is too long. */
const OURS: Readonly<Record<string, string>> = {
  REDELIVER_UNACKNOWLEDGED_MESSAGES: "REDELIVER_UNACKNOWLEDGED",
};

describe.each(golden)("$command of $from", ({ command, hex }) => {
  const frame = decodeFrame(Buffer.from(hex, "hex"));

  test("is the command of its name", () => {
    expect(wordsOf(frame.command.kind)).toBe(OURS[command] ?? command);
  });

  test("is encoded as the other client encoded it", () => {
    const head = encodeFrameHead(frame.command, frame.entry.length);
    expect(Buffer.concat([head, frame.entry]).toString("hex")).toBe(hex);
  });
});

const entries = golden
  .map(({ from, command, hex }) => ({
    from,
    command,
    entry: decodeFrame(Buffer.from(hex, "hex")).entry,
  }))
  .filter(({ entry }) => entry.length > 0);

test("some frames have entries, and some of those are batches", () => {
  const batches = entries.filter(
    ({ entry }) => decodeMetadata(splitEntry(entry)).numMessagesInBatch !== undefined,
  );
  expect(batches.length).toBeGreaterThan(5);
  expect(entries.length).toBeGreaterThan(batches.length);
});

test.each(entries)("the entry of $command of $from is intact, and encoded alike", (frame) => {
  const entry = splitEntry(frame.entry);
  expect(entry.checksum).toBeDefined();
  expect(isIntact(entry)).toBe(true);
  const metadata = decodeMetadata(entry);
  expect(encodeEntry(metadata, entry.payload)).toEqual(frame.entry);
  const { numMessagesInBatch: count, compression = 0, uncompressedSize = 0 } = metadata;
  const { name, codec } = compressionOfWire(compression);
  if (count === undefined || (name === "zstd" && !hasZstd)) return;
  const uncompressed =
    name === "none" ? entry.payload : codec.decompress(entry.payload, uncompressedSize);
  const writer = new BatchWriter();
  for (const { metadata: single, payload } of splitBatch(bufferOf(uncompressed), count))
    writer.add(single, payload);
  expect(writer.take()).toEqual(bufferOf(uncompressed));
});

/** `sendReceipt` is SEND_RECEIPT on the wire. */
function wordsOf(kind: string): string {
  return kind.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
