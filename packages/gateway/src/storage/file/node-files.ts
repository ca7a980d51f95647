import { mkdir, open, readdir, rename, rm } from "node:fs/promises";
import type { FileHandle } from "node:fs/promises";
import { constants } from "node:fs";
import { dirname, resolve } from "node:path";
import type { LogFiles, ReadableFile, WritableFile } from "./log-files.ts";
import { StorageError } from "../storage-error.ts";
import type { StorageErrorKind } from "../storage-error.ts";

/** Errors after which an attempt may succeed later: what is used up, and the way out. */
const USED_UP: ReadonlyMap<string, { kind: StorageErrorKind; what: string }> = new Map([
  ["ENOSPC", { kind: "full", what: "the disk is full; free space on it" }],
  ["EDQUOT", { kind: "full", what: "the disk quota is used up; raise it or remove files" }],
  [
    "EMFILE",
    {
      kind: "out-of-descriptors",
      what: "this process has as many files open as it may; raise its limit (ulimit -n) or use fewer topics",
    },
  ],
  [
    "ENFILE",
    {
      kind: "out-of-descriptors",
      what: "this machine has as many files open as it may; raise its limit (fs.file-max)",
    },
  ],
]);

const WRITABLE = constants.O_RDWR | constants.O_CREAT;

/**
 * The real disk. `durableFlag` makes each write as durable as `datasync` does; undefined for systems
 * without such a flag.
 */
export function nodeFilesWith(durableFlag: number | undefined): LogFiles {
  return {
    openToWrite: (path) =>
      attempt(path, async () => new NodeFile(await open(path, WRITABLE), path)),
    openDurable: (path) =>
      attempt(path, async () =>
        durableFlag === undefined
          ? new SyncedFile(await open(path, WRITABLE), path)
          : new NodeFile(await open(path, WRITABLE | durableFlag), path),
      ),
    openToRead: (path) => attempt(path, async () => new NodeFile(await open(path, "r"), path)),
    list: (folder) => attempt(folder, () => readdir(folder)),
    makeFolder: (path) => attempt(path, () => makeFolder(path)),
    rename: (from, to) => attempt(to, () => rename(from, to)),
    remove: (path) => attempt(path, () => rm(path, { force: true })),
    removeFolder: (path) => attempt(path, () => rm(path, { force: true, recursive: true })),
    syncFolder,
  };
}

export const nodeFiles: LogFiles = nodeFilesWith(constants.O_DSYNC);

class NodeFile implements ReadableFile, WritableFile {
  readonly #handle: FileHandle;
  readonly #path: string;

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  sizeBytes(): Promise<number> {
    return attempt(this.#path, async () => (await this.#handle.stat()).size);
  }

  read(into: Uint8Array, offsetBytes: number): Promise<number> {
    return attempt(this.#path, async () => {
      let got = 0;
      while (got < into.length) {
        const { bytesRead } = await this.#handle.read(
          into,
          got,
          into.length - got,
          offsetBytes + got,
        );
        if (bytesRead === 0) break;
        got += bytesRead;
      }
      return got;
    });
  }

  write(parts: readonly Uint8Array[], offsetBytes: number): Promise<void> {
    return attempt(this.#path, async () => {
      let at = offsetBytes;
      for (let left = [...parts]; left.length > 0;) {
        const { bytesWritten } = await this.#handle.writev(left, at);
        at += bytesWritten;
        left = without(left, bytesWritten);
      }
    });
  }

  truncate(sizeBytes: number): Promise<void> {
    return attempt(this.#path, () => this.#handle.truncate(sizeBytes));
  }

  sync(): Promise<void> {
    return attempt(this.#path, () => this.#handle.datasync(), "failed");
  }

  close(): Promise<void> {
    return attempt(this.#path, () => this.#handle.close());
  }
}

/** For systems without a flag that makes writes durable. */
class SyncedFile extends NodeFile {
  override async write(parts: readonly Uint8Array[], offsetBytes: number): Promise<void> {
    await super.write(parts, offsetBytes);
    await this.sync();
  }
}

/** A disk that is nearly full takes the front of a write and refuses the next one. */
function without(parts: Uint8Array[], writtenBytes: number): Uint8Array[] {
  let skip = writtenBytes;
  const at = parts.findIndex((part) => {
    if (skip < part.length) return true;
    skip -= part.length;
    return false;
  });
  if (at < 0) return [];
  return [...parts.slice(at, at + 1).map((part) => part.subarray(skip)), ...parts.slice(at + 1)];
}

async function makeFolder(path: string): Promise<void> {
  const firstMade = await mkdir(path, { recursive: true });
  if (firstMade === undefined) return;
  for (let made = resolve(path); made.length >= firstMade.length; made = dirname(made))
    await syncFolder(dirname(made));
}

/** A folder that cannot be opened may be later; one that cannot be synced has failed. */
async function syncFolder(path: string): Promise<void> {
  const handle = await attempt(path, () => open(path, "r"));
  try {
    await attempt(path, () => handle.sync(), "failed");
  } finally {
    await handle.close();
  }
}

async function attempt<T>(path: string, act: () => Promise<T>, kind?: "failed"): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    throw errorAt(path, cause, kind);
  }
}

/** What a failed call says to the user. After a failed sync nothing heals, whatever the reason. */
export function errorAt(path: string, cause: unknown, kind?: "failed"): StorageError {
  if (cause instanceof StorageError) return cause;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  const message = cause instanceof Error ? cause.message : String(cause);
  const usedUp = kind === undefined ? USED_UP.get(code) : undefined;
  return new StorageError(
    kind ?? usedUp?.kind ?? "failed",
    usedUp === undefined ? message : `${path}: ${usedUp.what} (${code})`,
    { spot: { file: path }, cause },
  );
}
