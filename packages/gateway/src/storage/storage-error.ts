import { SluiceError } from "@sluice/core";
import type { Position } from "./position.ts";

/**
 * What storage could not do.
 * - `full`: this was not stored for lack of space. Nothing else is lost, and a later append may
 *   succeed.
 * - `out-of-descriptors`: the process or the machine has too many open files. As with `full`, a later
 *   attempt may succeed.
 * - `failed`: the disk failed in a way after which nothing can be promised. The log has stopped.
 * - `damaged`: bytes that were stored are not what they were. The log has stopped; nothing is cut.
 * - `locked`: another process has the folder open.
 */
export type StorageErrorKind = "full" | "out-of-descriptors" | "failed" | "damaged" | "locked";

/** The spot that a storage error is about, as far as it is known. */
export interface StorageSpot {
  readonly file?: string;
  readonly offsetBytes?: number;
  readonly position?: Position;
}

/** Something could not be stored, or what was stored cannot be believed. */
export class StorageError extends SluiceError {
  override readonly name = "StorageError";
  readonly code = "STORAGE";
  readonly kind: StorageErrorKind;
  readonly spot: StorageSpot;

  constructor(
    kind: StorageErrorKind,
    message: string,
    { spot = {}, cause }: { readonly spot?: StorageSpot; readonly cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.spot = spot;
  }

  /** Whether a later attempt may succeed without a restart, once there is room. */
  get mayHeal(): boolean {
    return this.kind === "full" || this.kind === "out-of-descriptors";
  }
}

/** A call to storage that was closed before or meanwhile. */
export class StorageClosedError extends SluiceError {
  override readonly name = "StorageClosedError";
  readonly code = "CLOSED";
}

/** An error as it is, or as a failure if storage did not expect it. */
export function toStorageError(error: unknown): StorageError {
  if (error instanceof StorageError) return error;
  return new StorageError("failed", String(error), { cause: error });
}
