import {
  CHECKED_HEADER_BYTES,
  UNFINISHED,
  readChecked,
  replaceFile,
} from "../file/checked-file.ts";
import { requireDocument } from "./document-store.ts";
import type { DocumentStore, LoadedDocuments } from "./document-store.ts";
import type { LogFiles } from "../file/log-files.ts";
import { StorageClosedError, StorageError } from "../storage-error.ts";
import { NAME_BYTES_MAX } from "../file/name-flaw.ts";
import { fileNameOf, readableNameOf, requireName } from "../file/stored-name.ts";

/** A save or, without bytes, a removal that waits for the one before it. */
interface Change {
  bytes: Uint8Array | undefined;
  readonly done: Promise<void>;
}

/** The files of one store: their folder, and the ending of their names, e.g. ".cursor". */
export interface DocumentPlace {
  readonly folder: string;
  readonly ending: string;
}

/** Documents in a folder, a file each, replaced whole. The folder is made by the first save. */
export class FileDocumentStore implements DocumentStore {
  readonly #files: LogFiles;
  readonly #place: DocumentPlace;
  readonly #onDamaged: (damage: StorageError) => void;
  /** By name, the change that has not begun: one at most. */
  readonly #waiting = new Map<string, Change>();
  /** By name, the end of the newest change. */
  readonly #ends = new Map<string, Promise<void>>();
  #folderMade: Promise<void> | undefined;
  #isClosed = false;

  /** `onDamaged` is told of each damaged document that `load` meets. */
  constructor(
    files: LogFiles,
    place: DocumentPlace,
    onDamaged: (damage: StorageError) => void = () => undefined,
  ) {
    this.#files = files;
    this.#place = place;
    this.#onDamaged = onDamaged;
  }

  async load(): Promise<LoadedDocuments> {
    this.#requireOpen();
    await this.#makeFolder();
    const { folder } = this.#place;
    for (const fileName of await this.#files.list(folder))
      if (fileName.endsWith(UNFINISHED)) await this.#files.remove(`${folder}/${fileName}`);
    const loaded = await loadDocuments(this.#files, this.#place);
    for (const damage of loaded.damaged.values()) this.#onDamaged(damage);
    return loaded;
  }

  async save(name: string, bytes: Uint8Array): Promise<void> {
    requireDocument(name, bytes);
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
    await this.#makeFolder();
    const { folder } = this.#place;
    const content = encodeDocument(name, bytes);
    await replaceFile(this.#files, { folder, name: this.#fileOf(name) }, content);
  }

  async #erase(name: string): Promise<void> {
    await this.#makeFolder();
    await this.#files.remove(`${this.#place.folder}/${this.#fileOf(name)}`);
    await this.#files.syncFolder(this.#place.folder);
  }

  /** Once; a failure, e.g. for lack of descriptors, lets the next call try again. */
  async #makeFolder(): Promise<void> {
    this.#folderMade ??= this.#files.makeFolder(this.#place.folder);
    try {
      await this.#folderMade;
    } catch (error) {
      this.#folderMade = undefined;
      throw error;
    }
  }

  #fileOf(name: string): string {
    return `${fileNameOf(name)}${this.#place.ending}`;
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError(`${this.#place.folder} is closed`);
  }
}

/** A file of a document: the document or, if its bytes do not match their checksum, the damage. */
export type DocumentFile =
  | { readonly name: string; readonly bytes: Buffer; readonly damage?: never }
  | { readonly name: string | undefined; readonly damage: StorageError };

/** Reads the documents of a folder one by one, and changes nothing. */
export async function* readDocuments(
  files: LogFiles,
  { folder, ending }: DocumentPlace,
): AsyncGenerator<DocumentFile> {
  for (const fileName of await files.list(folder)) {
    if (!fileName.endsWith(ending)) continue;
    const path = `${folder}/${fileName}`;
    const stem = fileName.slice(0, -ending.length);
    try {
      const document = decodeDocument(await readChecked(files, path));
      if (fileNameOf(document.name) !== stem) throw misnamed(path, document.name);
      yield document;
    } catch (error) {
      // A running broker may have removed it since the folder was listed.
      if (!(await files.list(folder)).includes(fileName)) continue;
      if (!(error instanceof StorageError) || error.kind !== "damaged") throw error;
      yield { name: await nameOfDamaged(files, path, stem), damage: error };
    }
  }
}

async function loadDocuments(files: LogFiles, place: DocumentPlace): Promise<LoadedDocuments> {
  const documents = new Map<string, Uint8Array>();
  const damaged = new Map<string, StorageError>();
  for await (const file of readDocuments(files, place)) {
    if (file.damage === undefined) documents.set(file.name, file.bytes);
    else if (file.name === undefined) throw nameless(file.damage);
    else damaged.set(file.name, file.damage);
  }
  return { documents, damaged };
}

function encodeDocument(name: string, bytes: Uint8Array): Buffer {
  const nameBytes = Buffer.from(name);
  const head = Buffer.alloc(4);
  head.writeUInt32LE(nameBytes.length, 0);
  return Buffer.concat([head, nameBytes, bytes]);
}

function decodeDocument(content: Buffer): { readonly name: string; readonly bytes: Buffer } {
  const nameEnd = 4 + content.readUInt32LE(0);
  return { name: content.toString("utf8", 4, nameEnd), bytes: content.subarray(nameEnd) };
}

/**
 * The name of a document whose bytes do not match their checksum. The hash in the file's name tells
 * whether a candidate is right: the readable front of the file's name, or the bytes where the
 * content has the name.
 */
async function nameOfDamaged(
  files: LogFiles,
  path: string,
  stem: string,
): Promise<string | undefined> {
  const readable = readableNameOf(stem);
  if (readable !== undefined) return readable;
  const file = await files.openToRead(path);
  try {
    const bytes = Buffer.alloc(4 + NAME_BYTES_MAX);
    const got = await file.read(bytes, CHECKED_HEADER_BYTES);
    const name = bytes.toString("utf8", 4, Math.min(got, 4 + bytes.readUInt32LE(0)));
    return fileNameOf(name) === stem ? name : undefined;
  } finally {
    await file.close();
  }
}

function nameless(damage: StorageError): StorageError {
  const message = `${damage.message}; its name is lost too: restore the file, or move it away to give the document up`;
  return new StorageError("damaged", message, { spot: damage.spot, cause: damage });
}

function misnamed(file: string, name: string): StorageError {
  return new StorageError("damaged", `${file} has the document of ${name}`, { spot: { file } });
}
