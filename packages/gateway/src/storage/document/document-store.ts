import { InvariantError } from "@sluice/core";
import type { StorageError } from "../storage-error.ts";
import { requireName } from "../file/stored-name.ts";

/** Most bytes of one document: what a cursor with 100,000 ranges and its ack sets needs, doubled. */
export const DOCUMENT_BYTES_MAX: number = 4 * 1024 * 1024;

export interface LoadedDocuments {
  readonly documents: ReadonlyMap<string, Uint8Array>;
  /** By name, the documents whose stored bytes do not match their checksum. */
  readonly damaged: ReadonlyMap<string, StorageError>;
}

/**
 * Small named documents, each replaced whole: the cursors of a topic, the schemas of a topic,
 * policies. Only the caller understands their bytes.
 */
export interface DocumentStore {
  /**
   * All stored documents. A damaged document is listed apart and does not keep the others from
   * loading; it stays on disk until it is saved again or removed. Rejects with a `StorageError` if
   * not even the name of a damaged document can be told.
   */
  load(): Promise<LoadedDocuments>;

  /**
   * Resolves once the document is durable; the bytes must not change until then. While a save of a
   * name runs, only the newest later save of that name is kept waiting, so a caller waits for two
   * writes at most. After a failure the former document is whole and a later save may succeed.
   */
  save(name: string, bytes: Uint8Array): Promise<void>;

  /** Removes a document; one that does not exist counts as removed. */
  remove(name: string): Promise<void>;

  /** Waits for saves and removals that have begun. Calls after it reject. */
  close(): Promise<void>;
}

export function requireDocument(name: string, bytes: Uint8Array): void {
  requireName(name);
  if (bytes.length > DOCUMENT_BYTES_MAX)
    throw new InvariantError(
      `the document is ${bytes.length} bytes long; at most ${DOCUMENT_BYTES_MAX} are stored`,
    );
}
