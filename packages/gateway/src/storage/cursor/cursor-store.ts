import { InvariantError } from "@sluice/core";
import { requireName } from "../store/stored-name.ts";

/** Most bytes that one cursor may have. */
export const CURSOR_BYTES_MAX: number = 4 * 1024 * 1024;

/** Where the subscriptions of one topic have got to, in bytes that only their owner understands. */
export interface CursorStore {
  /** All that are stored. Rejects with a `StorageError` that names it if one is damaged. */
  load(): Promise<ReadonlyMap<string, Uint8Array>>;

  /**
   * Resolves once the cursor is durable; the bytes must not change until then. While one save of a name runs, the newest later one waits
   * and stands for those before it, so whoever saves often waits for two saves at most. After a
   * failure the former cursor is still whole, and a later save may succeed.
   */
  save(name: string, bytes: Uint8Array): Promise<void>;

  /** Forgets a cursor; one that is not there is forgotten already. */
  remove(name: string): Promise<void>;

  /** Waits for what has begun. Calls after it reject. */
  close(): Promise<void>;
}

export function requireCursor(name: string, bytes: Uint8Array): void {
  requireName(name);
  if (bytes.length > CURSOR_BYTES_MAX)
    throw new InvariantError(`a cursor has ${CURSOR_BYTES_MAX} bytes at most`);
}
