import { RefusalError } from "../refusal/refusal-error.ts";
import { StorageClosedError, StorageError } from "../storage/storage-error.ts";
import type { StorageErrorKind } from "../storage/storage-error.ts";

/** Files and offsets are nothing for clients; they are in the cause. */
const WORDS: Readonly<Record<StorageErrorKind, string>> = {
  full: "there is no room to store this",
  "out-of-descriptors": "the broker has too many open files",
  failed: "storage has failed",
  damaged: "what is stored is damaged",
  locked: "storage is used by another process",
};

/** What to tell a client about an error of storage; other errors are as they are. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof StorageClosedError)
    return new RefusalError("ServiceNotReady", "the topic is closed", { cause: error });
  if (error instanceof StorageError)
    return new RefusalError("PersistenceError", WORDS[error.kind], { cause: error });
  return error;
}

/** The work, with a refusal instead of an error of storage. */
export async function orRefusal<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw refusalOf(error);
  }
}
