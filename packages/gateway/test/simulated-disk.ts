import type { Random } from "@sluice/core";
import type { LogFiles, ReadableFile, WritableFile } from "../src/storage/file/log-files.ts";
import { StorageError } from "../src/storage/storage-error.ts";

/** What may go wrong at one call. Of a write some part gets through before. */
export type Fault = "full" | "out-of-descriptors" | "failed" | "crash";

/** A file: what a reader sees, and all that it was since it was synced, oldest first. */
interface Content {
  seen: Buffer;
  versions: Buffer[];
}

/** A change of the name of one file. A folder is the front of a name. */
interface Move {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly content: Content | undefined;
}

/** Moves that a crash keeps together or not at all: of one file, or of all files of a folder. */
type NameChange = readonly Move[];

/**
 * A disk in memory that forgets what was not synced, or keeps any part of it, when it crashes: each
 * page of a file as it was at any time since the last sync, and any of the changes of names.
 */
export class SimulatedDisk {
  /** Calls that would change something, counted from 0. */
  calls = 0;
  /** Which of them goes wrong, and how. */
  fault: { readonly atCall: number; readonly kind: Fault } | undefined;
  /** While set, writes go no further than this in sum. */
  freeBytes = Infinity;
  readonly #random: Random;
  #files = new Map<string, Content>();
  #durable = new Map<string, Content>();
  #changes: NameChange[] = [];
  #boot = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  /** The disk as one run of the machine sees it. After a crash its calls never come back. */
  mount(): LogFiles {
    const boot = this.#boot;
    const act: Act = (change, manner = {}) => this.#act(boot, change, manner);
    const look = <T>(see: () => T): Promise<T> => this.#look(boot, see);
    return {
      openToWrite: (path) =>
        act(() => new SimulatedFile(this.#create(path), { disk: this, act, look })),
      openDurable: (path) =>
        act(
          () =>
            new SimulatedFile(this.#create(path), { disk: this, act, look, isWriteDurable: true }),
        ),
      openToRead: (path) =>
        look(() => new SimulatedFile(this.content(path), { disk: this, act, look })),
      list: (folder) => look(() => this.#list(folder)),
      makeFolder: () => look(() => undefined),
      rename: (from, to) => act(() => this.#change(this.#moves(from, to))),
      remove: (path) =>
        act(() => this.#change([{ from: path, to: undefined, content: undefined }])),
      removeFolder: (path) =>
        act(() => {
          for (const file of this.paths().filter((name) => name.startsWith(`${path}/`)))
            this.#change([{ from: file, to: undefined, content: undefined }]);
        }),
      syncFolder: () => act(() => this.#keepChanges(), { isSync: true }),
    };
  }

  /** The power goes: whatever was not synced is kept in part, and every open file is gone. */
  crash(): void {
    this.#boot++;
    this.#changes = this.#changes.filter(() => this.#random.next() < 0.5);
    this.#keepChanges();
    this.#files = new Map();
    for (const [name, content] of this.#durable)
      this.#files.set(name, synced(this.#torn(content.versions)));
    this.#durable = new Map(this.#files);
  }

  /** The process goes and the machine stays: nothing is lost, and every open file is gone. */
  kill(): void {
    this.#boot++;
  }

  paths(): readonly string[] {
    return [...this.#files.keys()].toSorted();
  }

  content(path: string): Content {
    const content = this.#files.get(path);
    if (content === undefined) throw new StorageError("failed", `there is no ${path}`);
    return content;
  }

  /** Another disk with the same files, all of them durable. */
  clone(): SimulatedDisk {
    const copy = new SimulatedDisk(this.#random);
    for (const [path, { seen }] of this.#files) copy.overwrite(path, Buffer.from(seen));
    return copy;
  }

  overwrite(path: string, bytes: Buffer): void {
    const content = synced(bytes);
    this.#files.set(path, content);
    this.#durable.set(path, content);
  }

  /** What of a write finds room; takes it. */
  room(wantedBytes: number): number {
    const bytes = Math.min(wantedBytes, this.freeBytes);
    this.freeBytes -= bytes;
    return bytes;
  }

  upTo(max: number): number {
    return this.#upTo(max);
  }

  #upTo(max: number): number {
    return Math.floor(this.#random.next() * (max + 1));
  }

  /** Each page, and the length, of any version. */
  #torn(versions: readonly Buffer[]): Buffer {
    const any = (): Buffer => versions[this.#upTo(versions.length - 1)] ?? Buffer.alloc(0);
    const lengths = [any().length, any().length].toSorted((a, b) => a - b);
    const [shortest = 0, longest = 0] = lengths;
    const torn = Buffer.alloc(shortest + this.#upTo(longest - shortest));
    for (let at = 0; at < torn.length; at += PAGE_BYTES) {
      const end = Math.min(at + PAGE_BYTES, torn.length);
      torn.set(any().subarray(at, end), at);
    }
    return torn;
  }

  #create(path: string): Content {
    const found = this.#files.get(path);
    if (found !== undefined) return found;
    const content = synced(Buffer.alloc(0));
    this.#change([{ from: undefined, to: path, content }]);
    return content;
  }

  #moves(from: string, to: string): NameChange {
    if (this.#files.has(from)) return [{ from, to, content: this.content(from) }];
    const inside = this.paths().filter((path) => path.startsWith(`${from}/`));
    if (inside.length === 0) throw new StorageError("failed", `there is no ${from}`);
    return inside.map((path) => ({
      from: path,
      to: `${to}${path.slice(from.length)}`,
      content: this.content(path),
    }));
  }

  #change(change: NameChange): void {
    applyTo(this.#files, change);
    this.#changes.push(change);
  }

  #keepChanges(): void {
    for (const change of this.#changes.splice(0)) applyTo(this.#durable, change);
  }

  #list(folder: string): readonly string[] {
    const names = this.paths()
      .filter((path) => path.startsWith(`${folder}/`))
      .map((path) => path.slice(folder.length + 1).split("/")[0] ?? "");
    return [...new Set(names)];
  }

  async #look<T>(boot: number, see: () => T): Promise<T> {
    await Promise.resolve();
    if (boot !== this.#boot) return await NEVER;
    return see();
  }

  async #act<T>(boot: number, change: () => T, { tear, isSync }: Manner): Promise<T> {
    await Promise.resolve();
    if (boot !== this.#boot) return await NEVER;
    const { fault } = this;
    if (this.calls++ !== fault?.atCall) return change();
    tear?.();
    if (fault.kind !== "crash")
      throw new StorageError(isSync === true ? "failed" : fault.kind, "as was asked for");
    // The call may have done its work and not said so.
    if (tear === undefined && this.#random.next() < 0.5) change();
    this.crash();
    return await NEVER;
  }
}

const PAGE_BYTES = 64;

const NEVER = new Promise<never>(() => undefined);

/** What a call does of its work before it goes wrong, and whether it promises durability. */
interface Manner {
  readonly tear?: () => void;
  readonly isSync?: boolean;
}

type Act = <T>(change: () => T, manner?: Manner) => Promise<T>;
type Look = <T>(see: () => T) => Promise<T>;

class SimulatedFile implements ReadableFile, WritableFile {
  readonly #isWriteDurable: boolean;
  readonly #content: Content;
  readonly #disk: SimulatedDisk;
  readonly #act: Act;
  readonly #look: Look;

  constructor(
    content: Content,
    {
      disk,
      act,
      look,
      isWriteDurable = false,
    }: {
      readonly disk: SimulatedDisk;
      readonly act: Act;
      readonly look: Look;
      /** A crash, or a failure, may still come between what is written and that it is durable. */
      readonly isWriteDurable?: boolean;
    },
  ) {
    this.#isWriteDurable = isWriteDurable;
    this.#content = content;
    this.#disk = disk;
    this.#act = act;
    this.#look = look;
  }

  sizeBytes(): Promise<number> {
    return this.#look(() => this.#content.seen.length);
  }

  read(into: Uint8Array, offsetBytes: number): Promise<number> {
    return this.#look(() => this.#content.seen.copy(into, 0, offsetBytes));
  }

  async write(parts: readonly Uint8Array[], offsetBytes: number): Promise<void> {
    const bytes = Buffer.concat(parts);
    await this.#act(
      () => {
        const roomBytes = this.#disk.room(bytes.length);
        this.#put(bytes.subarray(0, roomBytes), offsetBytes);
        if (roomBytes < bytes.length) throw new StorageError("full", "no space is left");
      },
      { tear: () => this.#put(bytes.subarray(0, this.#disk.upTo(bytes.length)), offsetBytes) },
    );
    if (this.#isWriteDurable) await this.sync();
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#act(() => {
      this.#disk.freeBytes += Math.max(0, this.#content.seen.length - sizeBytes);
      this.#become(Buffer.concat([this.#content.seen], sizeBytes));
    });
  }

  sync(): Promise<void> {
    const keep = (): void => {
      this.#content.versions = [this.#content.seen];
    };
    return this.#act(keep, { isSync: true });
  }

  close(): Promise<void> {
    return this.#look(() => undefined);
  }

  #put(bytes: Buffer, offsetBytes: number): void {
    const { seen } = this.#content;
    const next = Buffer.alloc(Math.max(seen.length, offsetBytes + bytes.length));
    seen.copy(next);
    bytes.copy(next, offsetBytes);
    this.#become(next);
  }

  #become(next: Buffer): void {
    this.#content.seen = next;
    this.#content.versions.push(next);
  }
}

function synced(bytes: Buffer): Content {
  return { seen: bytes, versions: [bytes] };
}

function applyTo(files: Map<string, Content>, moves: NameChange): void {
  for (const { from, to, content } of moves) {
    if (from !== undefined) files.delete(from);
    if (to !== undefined && content !== undefined) files.set(to, content);
  }
}
