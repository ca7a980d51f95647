import { SALT_BYTES } from "./record.ts";
import { SEGMENT_HEADER_BYTES } from "./segment-header.ts";
import type { SegmentFacts } from "./segment-list.ts";
import { SparseIndex } from "./sparse-index.ts";

/** Entries of one file that are durable, and where to find them. */
export class Segment implements SegmentFacts {
  readonly ledgerId: number;
  readonly salt: Buffer;
  readonly index: SparseIndex;
  #sizeBytes: number;

  constructor(
    ledgerId: number,
    salt: Buffer,
    {
      index = new SparseIndex(),
      sizeBytes = SEGMENT_HEADER_BYTES,
    }: { readonly index?: SparseIndex; readonly sizeBytes?: number } = {},
  ) {
    this.ledgerId = ledgerId;
    this.salt = salt;
    this.index = index;
    this.#sizeBytes = sizeBytes;
  }

  get entryCount(): number {
    return this.index.entryCount;
  }

  get newestAtMs(): number {
    return this.index.newestAtMs;
  }

  /** How much of the file is durable. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  grow(recordBytes: number, publishedAtMs: number): void {
    this.index.add(this.#sizeBytes, publishedAtMs);
    this.#sizeBytes += recordBytes;
  }

  /** What a seal says: all that is needed to read the segment without reading it through. */
  encodeSeal(): Buffer {
    const head = Buffer.alloc(12 + SALT_BYTES);
    head.writeUInt32LE(this.ledgerId, 0);
    head.writeDoubleLE(this.#sizeBytes, 4);
    head.set(this.salt, 12);
    return Buffer.concat([head, this.index.encode()]);
  }

  /** From a seal whose bytes are checked; undefined if it is another segment's. */
  static fromSeal(seal: Buffer, ledgerId: number): Segment | undefined {
    if (seal.readUInt32LE(0) !== ledgerId) return undefined;
    const indexAt = 12 + SALT_BYTES;
    return new Segment(ledgerId, Buffer.from(seal.subarray(12, indexAt)), {
      index: SparseIndex.decode(seal.subarray(indexAt)),
      sizeBytes: seal.readDoubleLE(4),
    });
  }
}

/** Ten digits sort as numbers do. */
export function segmentFile(ledgerId: number): string {
  return `${String(ledgerId).padStart(10, "0")}.log`;
}

export function sealFile(ledgerId: number): string {
  return `${String(ledgerId).padStart(10, "0")}.seal`;
}
