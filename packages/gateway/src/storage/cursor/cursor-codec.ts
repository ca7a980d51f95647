import { DOCUMENT_BYTES_MAX } from "../document/document-store.ts";
import { comparePositions } from "../position.ts";
import type { Position } from "../position.ts";
import { StorageError } from "../storage-error.ts";
import type { CursorSnapshot, PartlyAcked, PositionRange } from "./cursor-snapshot.ts";

/**
 * Version 1, big-endian, numbers of positions in six bytes:
 * version u8, ackedBefore (ledger, entry), number of ranges u32, number of sets u32, then the ranges
 * (ledger, from, to), then the sets (ledger, entry, number of words u16, words u64).
 */
const VERSION = 1;

const NUMBER_BYTES = 6;
const HEAD_BYTES = 1 + 2 * NUMBER_BYTES + 2 * 4;
const RANGE_BYTES = 3 * NUMBER_BYTES;
const SET_HEAD_BYTES = 2 * NUMBER_BYTES + 2;

/** Leaves out the highest ranges, then sets, that would make it larger than a document may be. */
export function encodeCursor({ ackedBefore, ranges, ackSets }: CursorSnapshot): Buffer {
  const setsFit = fitting(ackSets, (DOCUMENT_BYTES_MAX - HEAD_BYTES) / 2);
  const setsBytes = sizeOf(setsFit);
  const rangesMax = Math.floor((DOCUMENT_BYTES_MAX - HEAD_BYTES - setsBytes) / RANGE_BYTES);
  const rangeCount = Math.min(ranges.length, rangesMax);
  const writer = new Writer(HEAD_BYTES + rangeCount * RANGE_BYTES + setsBytes);
  writer.uint(VERSION, 1);
  writer.position(ackedBefore);
  writer.uint(rangeCount, 4);
  writer.uint(setsFit.length, 4);
  let left = rangeCount;
  ranges.forEach(({ ledgerId, from, to }) => {
    if (left-- > 0) writer.range(ledgerId, from, to);
  });
  for (const { position, ackSet } of setsFit) {
    writer.position(position);
    writer.uint(ackSet.length, 2);
    for (const word of ackSet) writer.word(word);
  }
  return writer.bytes;
}

/** What a snapshot is after it was stored. */
export interface DecodedCursor extends CursorSnapshot {
  readonly ranges: readonly PositionRange[];
}

/** Throws a `StorageError` unless the bytes are exactly what `encodeCursor` makes. */
export function decodeCursor(bytes: Uint8Array): DecodedCursor {
  const reader = new Reader(bytes);
  const version = reader.uint(1);
  if (version !== VERSION) throw damaged(`has version ${version}, not ${VERSION}`);
  const ackedBefore = reader.position();
  const rangeCount = reader.uint(4);
  const setCount = reader.uint(4);
  const ranges: PositionRange[] = [];
  let previous = ackedBefore;
  for (let index = 0; index < rangeCount; index++) {
    const range = readRange(reader, previous);
    ranges.push(range);
    previous = { ledgerId: range.ledgerId, entryId: range.to };
  }
  const ackSets: PartlyAcked[] = [];
  for (let index = 0; index < setCount; index++) ackSets.push(readSet(reader));
  reader.end();
  return { ackedBefore, ranges, ackSets };
}

function readRange(reader: Reader, previous: Position): PositionRange {
  const { ledgerId, entryId: from } = reader.position();
  const to = reader.uint(NUMBER_BYTES);
  const isInOrder = comparePositions({ ledgerId, entryId: from }, previous) > 0 && from < to;
  if (!isInOrder) throw damaged("has ranges out of order");
  return { ledgerId, from, to };
}

function readSet(reader: Reader): PartlyAcked {
  const position = reader.position();
  const wordCount = reader.uint(2);
  const ackSet: bigint[] = [];
  for (let index = 0; index < wordCount; index++) ackSet.push(reader.word());
  return { position, ackSet };
}

function fitting(ackSets: readonly PartlyAcked[], bytesMax: number): readonly PartlyAcked[] {
  let bytes = 0;
  const end = ackSets.findIndex(({ ackSet }) => {
    bytes += SET_HEAD_BYTES + ackSet.length * 8;
    return bytes > bytesMax;
  });
  return end === -1 ? ackSets : ackSets.slice(0, end);
}

function sizeOf(ackSets: readonly PartlyAcked[]): number {
  return ackSets.reduce((bytes, { ackSet }) => bytes + SET_HEAD_BYTES + ackSet.length * 8, 0);
}

function damaged(what: string): StorageError {
  return new StorageError("damaged", `a cursor ${what}`);
}

class Writer {
  readonly bytes: Buffer;
  #offset = 0;

  constructor(sizeBytes: number) {
    this.bytes = Buffer.alloc(sizeBytes);
  }

  uint(value: number, sizeBytes: number): void {
    this.#offset = this.bytes.writeUIntBE(value, this.#offset, sizeBytes);
  }

  word(value: bigint): void {
    this.#offset = this.bytes.writeBigUInt64BE(BigInt.asUintN(64, value), this.#offset);
  }

  position({ ledgerId, entryId }: Position): void {
    this.#number(ledgerId);
    this.#number(entryId);
  }

  range(ledgerId: number, from: number, to: number): void {
    this.#number(ledgerId);
    this.#number(from);
    this.#number(to);
  }

  /** The same as `uint(value, NUMBER_BYTES)`, in a third of the time: there may be 300,000 of them. */
  #number(value: number): void {
    const { bytes } = this;
    const at = this.#offset;
    const high = Math.floor(value / 2 ** 32);
    bytes[at] = high >>> 8;
    bytes[at + 1] = high;
    bytes[at + 2] = value >>> 24;
    bytes[at + 3] = value >>> 16;
    bytes[at + 4] = value >>> 8;
    bytes[at + 5] = value;
    this.#offset = at + NUMBER_BYTES;
  }
}

class Reader {
  readonly #bytes: Buffer;
  #offset = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  uint(sizeBytes: number): number {
    return this.#bytes.readUIntBE(this.#take(sizeBytes), sizeBytes);
  }

  /** As clients send it: signed. */
  word(): bigint {
    return this.#bytes.readBigInt64BE(this.#take(8));
  }

  position(): Position {
    return { ledgerId: this.uint(NUMBER_BYTES), entryId: this.uint(NUMBER_BYTES) };
  }

  end(): void {
    if (this.#offset !== this.#bytes.length) throw damaged("is longer than it says");
  }

  #take(sizeBytes: number): number {
    const offset = this.#offset;
    this.#offset += sizeBytes;
    if (this.#offset > this.#bytes.length) throw damaged("is shorter than it says");
    return offset;
  }
}
