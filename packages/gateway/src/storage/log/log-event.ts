import type { StorageError } from "../storage-error.ts";

/** What happened to a log that an operator should know. */
export type LogEvent =
  /** Bytes of a torn write, never acknowledged, were cut off the end when the log was opened. */
  | { readonly kind: "tail-cut"; readonly bytes: number }
  /** Stored bytes are not what was written; the log has stopped. */
  | { readonly kind: "damaged"; readonly error: StorageError }
  /** Appends are refused for lack of space or descriptors; each later append tries again. */
  | { readonly kind: "storage-full"; readonly error: StorageError }
  /** An append was stored after others were refused. */
  | { readonly kind: "healed" };

export type LogObserver = (event: LogEvent) => void;
