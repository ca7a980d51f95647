import { DOCUMENT_BYTES_MAX } from "../document/document-store.ts";
import type { Position } from "../position.ts";
import { StorageError } from "../storage-error.ts";
import type { CursorSnapshot, PartlyAcked, RangeRun } from "./cursor-snapshot.ts";

/**
 * Version 2, big-endian, numbers of positions in six bytes:
 * version u8, ackedBefore (ledger, entry), number of runs u32, number of sets u32, then the runs
 * (ledger, number of ranges u32, all `from`, all `to`), then the sets (ledger, entry, number of words
 * u16, words u64). The `from` and `to` of runs are doubles, lowest byte first: they are copied as they
 * are in memory, so that 100,000 ranges take milliseconds.
 */
const VERSION = 2;

/** Read, never written: ranges one by one (ledger, from, to), the number of them before the sets'. */
const FORMER_VERSION = 1;

const NUMBER_BYTES = 6;
const HEAD_BYTES = 1 + 2 * NUMBER_BYTES + 2 * 4;
const RUN_HEAD_BYTES = NUMBER_BYTES + 4;
const RANGE_BYTES = 2 * Float64Array.BYTES_PER_ELEMENT;
const SET_HEAD_BYTES = 2 * NUMBER_BYTES + 2;

const IS_LITTLE_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

/** Leaves out the highest ranges, then sets, that would make it larger than a document may be. */
export function encodeCursor({ ackedBefore, ranges, ackSets }: CursorSnapshot): Buffer {
  const setsFit = fitting(ackSets, (DOCUMENT_BYTES_MAX - HEAD_BYTES) / 2);
  const setsBytes = sizeOf(setsFit);
  const runsFit = fittingRuns(ranges, DOCUMENT_BYTES_MAX - HEAD_BYTES - setsBytes);
  const runsBytes = runsFit.reduce((bytes, run) => bytes + runBytes(run), 0);
  const writer = new Writer(HEAD_BYTES + runsBytes + setsBytes);
  writer.uint(VERSION, 1);
  writer.position(ackedBefore);
  writer.uint(runsFit.length, 4);
  writer.uint(setsFit.length, 4);
  for (const { ledgerId, from, to } of runsFit) {
    writer.uint(ledgerId, NUMBER_BYTES);
    writer.uint(from.length, 4);
    writer.doubles(from);
    writer.doubles(to);
  }
  for (const { position, ackSet } of setsFit) {
    writer.position(position);
    writer.uint(ackSet.length, 2);
    for (const word of ackSet) writer.word(word);
  }
  return writer.bytes;
}

/** Throws a `StorageError` unless the bytes are what `encodeCursor` makes, or made before. */
export function decodeCursor(bytes: Uint8Array): CursorSnapshot {
  const reader = new Reader(bytes);
  const version = reader.uint(1);
  if (version !== VERSION && version !== FORMER_VERSION)
    throw damaged(
      `has version ${version}; this broker reads ${FORMER_VERSION} and ${VERSION}: use the broker that wrote it, or a newer one`,
    );
  const ackedBefore = reader.position();
  const rangesCount = reader.uint(4);
  const setCount = reader.uint(4);
  const ranges =
    version === VERSION ? readRuns(reader, rangesCount) : readSingleRanges(reader, rangesCount);
  requireOrder(ranges, ackedBefore);
  const ackSets: PartlyAcked[] = [];
  for (let index = 0; index < setCount; index++) ackSets.push(readSet(reader));
  reader.end();
  return { ackedBefore, ranges, ackSets };
}

function readRuns(reader: Reader, count: number): readonly RangeRun[] {
  const runs: RangeRun[] = [];
  for (let index = 0; index < count; index++) {
    const ledgerId = reader.uint(NUMBER_BYTES);
    const length = reader.uint(4);
    runs.push({ ledgerId, from: reader.doubles(length), to: reader.doubles(length) });
  }
  return runs;
}

function readSingleRanges(reader: Reader, count: number): readonly RangeRun[] {
  const runs: { readonly ledgerId: number; readonly from: number[]; readonly to: number[] }[] = [];
  for (let index = 0; index < count; index++) {
    const { ledgerId, entryId: from } = reader.position();
    let run = runs.at(-1);
    if (run?.ledgerId !== ledgerId) runs.push((run = { ledgerId, from: [], to: [] }));
    run.from.push(from);
    run.to.push(reader.uint(NUMBER_BYTES));
  }
  return runs.map(({ ledgerId, from, to }) => ({
    ledgerId,
    from: Float64Array.from(from),
    to: Float64Array.from(to),
  }));
}

/** Ranges are in order, do not touch, and are beyond the mark-delete position. */
function requireOrder(runs: readonly RangeRun[], ackedBefore: Position): void {
  let previous = ackedBefore;
  for (const { ledgerId, from, to } of runs) {
    if (ledgerId < previous.ledgerId || from.length === 0) throw damaged("has ranges out of order");
    let end = ledgerId === previous.ledgerId ? previous.entryId : -1;
    for (const [index, start] of from.entries()) {
      const next = to[index] ?? Number.NaN;
      const isRange = Number.isSafeInteger(start) && Number.isSafeInteger(next) && start < next;
      if (!isRange || start <= end) throw damaged("has ranges out of order");
      end = next;
    }
    previous = { ledgerId, entryId: end };
  }
}

function runBytes({ from }: RangeRun): number {
  return RUN_HEAD_BYTES + from.length * RANGE_BYTES;
}

/** The lowest ranges that take no more than `bytesMax`. */
function fittingRuns(runs: readonly RangeRun[], bytesMax: number): readonly RangeRun[] {
  const fit: RangeRun[] = [];
  let leftBytes = bytesMax;
  for (const run of runs) {
    const count = Math.min(run.from.length, Math.floor((leftBytes - RUN_HEAD_BYTES) / RANGE_BYTES));
    if (count <= 0) break;
    const { ledgerId, from, to } = run;
    fit.push({ ledgerId, from: from.subarray(0, count), to: to.subarray(0, count) });
    leftBytes -= RUN_HEAD_BYTES + count * RANGE_BYTES;
  }
  return fit;
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
    this.uint(ledgerId, NUMBER_BYTES);
    this.uint(entryId, NUMBER_BYTES);
  }

  doubles(values: Float64Array): void {
    const place = this.bytes.subarray(this.#offset, this.#offset + values.byteLength);
    place.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
    if (!IS_LITTLE_ENDIAN) place.swap64();
    this.#offset += values.byteLength;
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

  doubles(count: number): Float64Array {
    const at = this.#take(count * Float64Array.BYTES_PER_ELEMENT);
    const values = new Float64Array(count);
    const bytes = Buffer.from(values.buffer);
    this.#bytes.copy(bytes, 0, at);
    if (!IS_LITTLE_ENDIAN) bytes.swap64();
    return values;
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
