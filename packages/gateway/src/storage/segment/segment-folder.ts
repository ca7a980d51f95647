import type { Random } from "@sluice/core";
import { UNFINISHED, readChecked, replaceFile } from "../file/checked-file.ts";
import type { LogFiles } from "../file/log-files.ts";
import { Segment, sealFile, segmentFile } from "./segment.ts";
import { readSegment } from "./segment-reader.ts";
import { damaged, scanSegment } from "./segment-scan.ts";
import { SegmentWriter } from "./segment-writer.ts";
import { StorageError } from "../storage-error.ts";
import type { ReadBounds } from "../entry.ts";
import type { Slab } from "./slab.ts";

/** Names of segments and seals, with the ledger id. */
export const SEGMENT_FILE: RegExp = /^(\d{10})\.log$/;
export const SEAL_FILE: RegExp = /^(\d{10})\.seal$/;

export interface OpenedSegments {
  readonly segments: readonly Segment[];
  /** The last segment, if it has no seal yet. */
  readonly unsealed: Segment | undefined;
  readonly cutBytes: number;
}

/**
 * The files of one log. A segment is sealed, by a file beside it that says all about it, before the
 * next one is made. So only the last can have none, after a crash, and only it is read through when
 * the log is opened: of the others the seal and the size are checked, and each record when it is
 * read.
 */
export class SegmentFolder {
  readonly path: string;
  readonly #files: LogFiles;

  constructor(files: LogFiles, path: string) {
    this.#files = files;
    this.path = path;
  }

  /** Finds the segments and cuts a torn tail off. Rejects if anything durable is not as written. */
  async open(): Promise<OpenedSegments> {
    await this.#files.makeFolder(this.path);
    const names = await this.#files.list(this.path);
    const ledgerIds = idsOf(names, SEGMENT_FILE);
    const sealedIds = new Set(idsOf(names, SEAL_FILE));
    await this.#removeLeftovers(names, ledgerIds[0] ?? -Infinity);
    this.#requireAll(ledgerIds, sealedIds);
    // A process that was killed may have left names that are nowhere but in the machine's memory.
    await this.#files.syncFolder(this.path);
    const segments: Segment[] = [];
    for (const ledgerId of ledgerIds) {
      if (sealedIds.has(ledgerId)) {
        segments.push(await this.#sealed(ledgerId));
        continue;
      }
      const { segment, cutBytes } = await this.#recover(ledgerId);
      return { segments: [...segments, segment], unsealed: segment, cutBytes };
    }
    return { segments, unsealed: undefined, cutBytes: 0 };
  }

  create(ledgerId: number, random: Random): Promise<SegmentWriter> {
    return SegmentWriter.create({ files: this.#files, random }, this.path, ledgerId);
  }

  /** Records of a segment from one that it has, about as many as the bounds allow or more. */
  read(segment: Segment, entryId: number, bounds: ReadBounds): Promise<Slab> {
    const path = this.#pathOf(segment.ledgerId);
    return readSegment(this.#files, { path, segment }, { entryId, bounds });
  }

  async seal(segment: Segment): Promise<void> {
    const place = { folder: this.path, name: sealFile(segment.ledgerId) };
    await replaceFile(this.#files, place, segment.encodeSeal());
  }

  /** A crash may leave the seal, never a segment without its seal. */
  async remove({ ledgerId }: Segment): Promise<void> {
    await this.#files.remove(this.#pathOf(ledgerId));
    await this.#files.syncFolder(this.path);
    await this.#files.remove(`${this.path}/${sealFile(ledgerId)}`);
  }

  /** What a crash left of a replaced file, and seals of segments that were removed. */
  async #removeLeftovers(names: readonly string[], firstId: number): Promise<void> {
    const isLeft = (name: string): boolean =>
      name.endsWith(UNFINISHED) || Number(SEAL_FILE.exec(name)?.[1] ?? Infinity) < firstId;
    for (const name of names.filter(isLeft)) await this.#files.remove(`${this.path}/${name}`);
  }

  #requireAll(ledgerIds: readonly number[], sealedIds: ReadonlySet<number>): void {
    const found = new Set(ledgerIds);
    const [firstId = Math.min(...sealedIds)] = ledgerIds;
    const lastId = Math.max(ledgerIds.at(-1) ?? -1, ...sealedIds);
    for (let ledgerId = firstId; ledgerId <= lastId; ledgerId++) {
      if (!found.has(ledgerId)) throw this.#missing(ledgerId, segmentFile(ledgerId));
      if (ledgerId < lastId && !sealedIds.has(ledgerId))
        throw this.#missing(ledgerId, sealFile(ledgerId));
    }
  }

  async #sealed(ledgerId: number): Promise<Segment> {
    const sealPath = `${this.path}/${sealFile(ledgerId)}`;
    const segment = Segment.fromSeal(await readChecked(this.#files, sealPath), ledgerId);
    if (segment === undefined) throw damaged(sealPath, 0, { ledgerId, entryId: 0 });
    const file = await this.#files.openToRead(this.#pathOf(ledgerId));
    try {
      const sizeBytes = await file.sizeBytes();
      if (sizeBytes === segment.sizeBytes) return segment;
      const block = segment.index.blockAt(sizeBytes);
      const entryId = sizeBytes > segment.sizeBytes ? segment.entryCount : (block?.entryId ?? 0);
      throw damaged(this.#pathOf(ledgerId), sizeBytes, { ledgerId, entryId });
    } finally {
      await file.close();
    }
  }

  async #recover(
    ledgerId: number,
  ): Promise<{ readonly segment: Segment; readonly cutBytes: number }> {
    const path = this.#pathOf(ledgerId);
    const file = await this.#files.openToWrite(path);
    try {
      const { segment, tornBytes } = await scanSegment(file, path, ledgerId);
      const kept = segment ?? new Segment(ledgerId, Buffer.alloc(8), { sizeBytes: 0 });
      if (tornBytes > 0) await file.truncate(kept.sizeBytes);
      // What the crash left may be nowhere but in the machine's memory yet.
      await file.sync();
      return { segment: kept, cutBytes: tornBytes };
    } finally {
      await file.close();
    }
  }

  #pathOf(ledgerId: number): string {
    return `${this.path}/${segmentFile(ledgerId)}`;
  }

  #missing(ledgerId: number, name: string): StorageError {
    const file = `${this.path}/${name}`;
    const spot = { file, position: { ledgerId, entryId: 0 } };
    return new StorageError("damaged", `${file} is missing`, { spot });
  }
}

/** Ledger ids of the files whose name matches, in order. */
export function idsOf(names: readonly string[], pattern: RegExp): readonly number[] {
  return names
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((a, b) => a - b);
}
