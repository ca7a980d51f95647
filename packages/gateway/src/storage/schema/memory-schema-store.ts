import { settled } from "../file/settled.ts";
import { requireName } from "../file/stored-name.ts";
import { StorageClosedError } from "../storage-error.ts";
import type { LoadedSchemas, SchemaStore } from "./schema-store.ts";

/** Schemas that are gone with their process. */
export class MemorySchemaStore implements SchemaStore {
  readonly #topics = new Map<string, Map<number, Uint8Array>>();
  #isClosed = false;

  get topicCount(): number {
    return this.#topics.size;
  }

  has(topic: string): boolean {
    return this.#topics.has(topic);
  }

  load(topic: string): Promise<LoadedSchemas> {
    return settled(() => {
      this.#requireOpen();
      return { schemas: new Map(this.#topics.get(topic)), damaged: new Map() };
    });
  }

  save(topic: string, version: number, bytes: Uint8Array): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      requireName(topic);
      const schemas = this.#topics.get(topic) ?? new Map<number, Uint8Array>();
      schemas.set(version, Uint8Array.from(bytes));
      this.#topics.set(topic, schemas);
    });
  }

  remove(topic: string): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      this.#topics.delete(topic);
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
