import { UNFINISHED, readChecked, replaceFile } from "../file/checked-file.ts";
import { requireCursor } from "./cursor-store.ts";
import type { CursorStore } from "./cursor-store.ts";
import type { LogFiles } from "../segment/log-files.ts";
import { StorageClosedError, StorageError } from "../storage-error.ts";
import { fileNameOf, requireName } from "../store/stored-name.ts";

const ENDING = ".cursor";

/** A save or, without bytes, a removal that waits for the one before it. */
interface Change {
  bytes: Uint8Array | undefined;
  readonly done: Promise<void>;
}

/** Cursors in a folder, a file each, replaced whole. */
export class FileCursorStore implements CursorStore {
  readonly #files: LogFiles;
  readonly #folder: string;
  /** By name, the change that has not begun: one at most. */
  readonly #waiting = new Map<string, Change>();
  /** By name, the end of the last change there is. */
  readonly #ends = new Map<string, Promise<void>>();
  #isClosed = false;

  constructor(files: LogFiles, folder: string) {
    this.#files = files;
    this.#folder = folder;
  }

  async load(): Promise<ReadonlyMap<string, Uint8Array>> {
    this.#requireOpen();
    await this.#files.makeFolder(this.#folder);
    const cursors = new Map<string, Uint8Array>();
    for (const fileName of await this.#files.list(this.#folder)) {
      const path = `${this.#folder}/${fileName}`;
      if (fileName.endsWith(UNFINISHED)) await this.#files.remove(path);
      if (!fileName.endsWith(ENDING)) continue;
      const content = await readChecked(this.#files, path);
      const nameEnd = 4 + content.readUInt32LE(0);
      const name = content.toString("utf8", 4, nameEnd);
      if (cursorFile(name) !== fileName) throw misnamed(path, name);
      cursors.set(name, content.subarray(nameEnd));
    }
    return cursors;
  }

  async save(name: string, bytes: Uint8Array): Promise<void> {
    requireCursor(name, bytes);
    await this.#change(name, bytes);
  }

  async remove(name: string): Promise<void> {
    requireName(name);
    await this.#change(name, undefined);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#ends.values());
  }

  #change(name: string, bytes: Uint8Array | undefined): Promise<void> {
    this.#requireOpen();
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      waiting.bytes = bytes;
      return waiting.done;
    }
    const done = (this.#ends.get(name) ?? Promise.resolve()).then(() => {
      this.#waiting.delete(name);
      return change.bytes === undefined ? this.#erase(name) : this.#write(name, change.bytes);
    });
    const change: Change = { bytes, done };
    this.#waiting.set(name, change);
    this.#noteEnd(name, done);
    return done;
  }

  #noteEnd(name: string, done: Promise<void>): void {
    const forget = (): void => {
      if (this.#ends.get(name) === end) this.#ends.delete(name);
    };
    const end = done.then(forget, forget);
    this.#ends.set(name, end);
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const nameBytes = Buffer.from(name);
    const head = Buffer.alloc(4);
    head.writeUInt32LE(nameBytes.length, 0);
    await replaceFile(
      this.#files,
      { folder: this.#folder, name: cursorFile(name) },
      Buffer.concat([head, nameBytes, bytes]),
    );
  }

  async #erase(name: string): Promise<void> {
    await this.#files.remove(`${this.#folder}/${cursorFile(name)}`);
    await this.#files.syncFolder(this.#folder);
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError(`${this.#folder} is closed`);
  }
}

function cursorFile(name: string): string {
  return `${fileNameOf(name)}${ENDING}`;
}

function misnamed(file: string, name: string): StorageError {
  return new StorageError("damaged", `${file} has the cursor of ${name}`, { spot: { file } });
}
