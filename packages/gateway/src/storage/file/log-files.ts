/**
 * What storage asks of a disk. Whatever cannot be done is thrown as a `StorageError`: of kind
 * `full` for lack of space or quota, `out-of-descriptors` for lack of open files, else `failed`.
 */
export interface LogFiles {
  /** Opens a file to write to it; makes it if it is not there. */
  openToWrite(path: string): Promise<WritableFile>;
  /**
   * The same, of a file whose `write` resolves once all it wrote is durable: one call of the system
   * instead of two. What `truncate` does still needs `sync`.
   */
  openDurable(path: string): Promise<WritableFile>;
  openToRead(path: string): Promise<ReadableFile>;
  /** Names of the files and folders in a folder, in no order. */
  list(folder: string): Promise<readonly string[]>;
  /** Makes a folder and those above it that are missing, durably. */
  makeFolder(path: string): Promise<void>;
  /** Of a file, or of a folder with all that is in it. */
  rename(from: string, to: string): Promise<void>;
  /** Removes a file; one that is not there is removed already. */
  remove(path: string): Promise<void>;
  /** Removes a folder with all that is in it. */
  removeFolder(path: string): Promise<void>;
  /** Makes durable which files a folder has, under which names. */
  syncFolder(path: string): Promise<void>;
}

export interface ReadableFile {
  sizeBytes(): Promise<number>;
  /** Fills `into` from `offsetBytes` on, and says how much it got: less only at the file's end. */
  read(into: Uint8Array, offsetBytes: number): Promise<number>;
  close(): Promise<void>;
}

export interface WritableFile extends ReadableFile {
  /** Writes all parts, one after the other. If it throws, any part of them may have been written. */
  write(parts: readonly Uint8Array[], offsetBytes: number): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  /** Resolves once all that was written is durable. If it throws, it never will be: of kind `failed`. */
  sync(): Promise<void>;
}
