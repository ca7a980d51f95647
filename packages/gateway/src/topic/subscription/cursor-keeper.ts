import type { Timer } from "@sluice/core";
import type { DocumentStore } from "../../storage/document/document-store.ts";
import { StorageError } from "../../storage/storage-error.ts";
import { encodeCursor } from "../../storage/cursor/cursor-codec.ts";
import type { Cursor } from "../../subscription/cursor/cursor.ts";

/**
 * Saves the cursors of one topic: those that must be at once, the others within `saveMs` of their
 * first change. A save that fails is tried again after that time, for as long as it takes: until then
 * more is delivered again after a crash, and nothing is lost.
 */
export class CursorKeeper {
  readonly #timer: Timer;
  readonly #store: DocumentStore;
  readonly #saveMs: number;
  readonly #changed = new Map<string, Cursor>();
  readonly #closing = new AbortController();
  #saving: Promise<void> | undefined;
  #failure: StorageError | undefined;

  constructor(timer: Timer, store: DocumentStore, { saveMs }: { readonly saveMs: number }) {
    this.#timer = timer;
    this.#store = store;
    this.#saveMs = saveMs;
  }

  /** Why the last save failed; undefined if it did not. */
  get failure(): StorageError | undefined {
    return this.#failure;
  }

  /** A cursor has changed. */
  note(name: string, cursor: Cursor): void {
    if (this.#closing.signal.aborted) return;
    this.#changed.set(name, cursor);
    this.#saving ??= this.#saveLater();
  }

  /** Resolves once the cursor is durable. */
  async save(name: string, cursor: Cursor): Promise<void> {
    this.#changed.delete(name);
    await this.#store.save(name, encodeCursor(cursor.snapshot()));
  }

  /** Nobody may change the cursor any more. */
  async remove(name: string): Promise<void> {
    this.#changed.delete(name);
    await this.#store.remove(name);
    // A save that was under way and failed has put it back.
    this.#changed.delete(name);
  }

  /** Saves what has changed. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#saving;
    await this.#saveChanged();
  }

  async #saveLater(): Promise<void> {
    const { signal } = this.#closing;
    while (this.#changed.size > 0 && !signal.aborted) {
      try {
        await this.#timer.sleep(this.#saveMs, signal);
      } catch {
        break;
      }
      await this.#saveChanged();
    }
    this.#saving = undefined;
  }

  async #saveChanged(): Promise<void> {
    this.#failure = undefined;
    // A copy: one whose save fails is put back.
    for (const [name, cursor] of new Map(this.#changed)) await this.#trySave(name, cursor);
  }

  async #trySave(name: string, cursor: Cursor): Promise<void> {
    // It may have been saved or removed while another was.
    if (this.#changed.get(name) !== cursor) return;
    try {
      await this.save(name, cursor);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      this.#failure = error;
      this.#changed.set(name, cursor);
    }
  }
}
