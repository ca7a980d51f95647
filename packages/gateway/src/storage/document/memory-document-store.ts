import { requireDocument } from "./document-store.ts";
import type { DocumentStore, LoadedDocuments } from "./document-store.ts";
import { settled } from "../file/settled.ts";
import { StorageClosedError } from "../storage-error.ts";
import { requireName } from "../file/stored-name.ts";

/** Documents that are gone with their process. */
export class MemoryDocumentStore implements DocumentStore {
  readonly #documents: Map<string, Uint8Array>;
  #isClosed = false;

  /** `documents`: those of a former store, to continue with. */
  constructor(documents: Map<string, Uint8Array> = new Map()) {
    this.#documents = documents;
  }

  load(): Promise<LoadedDocuments> {
    return settled(() => {
      this.#requireOpen();
      return { documents: new Map(this.#documents), damaged: new Map() };
    });
  }

  save(name: string, bytes: Uint8Array): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      requireDocument(name, bytes);
      this.#documents.set(name, Uint8Array.from(bytes));
    });
  }

  remove(name: string): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      requireName(name);
      this.#documents.delete(name);
    });
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return Promise.resolve();
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError("the store is closed");
  }
}
