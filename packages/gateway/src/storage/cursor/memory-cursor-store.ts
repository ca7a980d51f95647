import { requireCursor } from "./cursor-store.ts";
import type { CursorStore } from "./cursor-store.ts";
import { settled } from "../file/settled.ts";
import { StorageClosedError } from "../storage-error.ts";
import { requireName } from "../store/stored-name.ts";

/** Cursors that are gone with their process. */
export class MemoryCursorStore implements CursorStore {
  readonly #cursors: Map<string, Uint8Array>;
  #isClosed = false;

  /** With the cursors of a former store, to go on with them. */
  constructor(cursors: Map<string, Uint8Array> = new Map()) {
    this.#cursors = cursors;
  }

  load(): Promise<ReadonlyMap<string, Uint8Array>> {
    return settled(() => {
      this.#requireOpen();
      return new Map(this.#cursors);
    });
  }

  save(name: string, bytes: Uint8Array): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      requireCursor(name, bytes);
      this.#cursors.set(name, Uint8Array.from(bytes));
    });
  }

  remove(name: string): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      requireName(name);
      this.#cursors.delete(name);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError("the cursors are closed");
  }
}
