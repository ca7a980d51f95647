import { FileDocumentStore } from "../document/file-document-store.ts";
import { isGone, removeAtOnce } from "../file/gone-folder.ts";
import type { LogFiles } from "../file/log-files.ts";
import { fileNameOf, isStoredName, requireName } from "../file/stored-name.ts";
import { StorageClosedError } from "../storage-error.ts";
import type { StorageError } from "../storage-error.ts";
import { Turns } from "../turns.ts";
import type { LoadedSchemas, SchemaStore } from "./schema-store.ts";

export const SCHEMA_ENDING = ".schema";

/** A stored version of the schema of a topic is not what was written. */
type OnDamagedSchema = (topic: string, damage: StorageError) => void;

/** Schemas in a folder per topic, a file per version. */
export class FileSchemaStore implements SchemaStore {
  readonly #files: LogFiles;
  readonly #root: string;
  readonly #onDamaged: OnDamagedSchema;
  /** Folders of the topics that have a schema. */
  readonly #folders: Set<string>;
  /** Removals, and saves, which would bring a folder back. */
  readonly #turns = new Turns();
  #isClosed = false;

  private constructor(
    files: LogFiles,
    root: string,
    { folders, onDamaged }: { folders: Set<string>; onDamaged: OnDamagedSchema },
  ) {
    this.#files = files;
    this.#root = root;
    this.#folders = folders;
    this.#onDamaged = onDamaged;
  }

  static async open(
    files: LogFiles,
    root: string,
    onDamaged: OnDamagedSchema = () => undefined,
  ): Promise<FileSchemaStore> {
    await files.makeFolder(root);
    const names = await files.list(root);
    for (const name of names.filter(isGone)) await files.removeFolder(`${root}/${name}`);
    const folders = new Set(names.filter(isStoredName));
    return new FileSchemaStore(files, root, { folders, onDamaged });
  }

  get topicCount(): number {
    return this.#folders.size;
  }

  has(topic: string): boolean {
    return this.#folders.has(fileNameOf(topic));
  }

  async load(topic: string): Promise<LoadedSchemas> {
    this.#requireOpen();
    if (!this.has(topic)) return { schemas: new Map(), damaged: new Map() };
    const { documents, damaged } = await this.#documentsOf(topic).load();
    return { schemas: byVersion(documents), damaged: byVersion(damaged) };
  }

  async save(topic: string, version: number, bytes: Uint8Array): Promise<void> {
    requireName(topic);
    this.#requireOpen();
    await this.#turns.run(async () => {
      this.#folders.add(fileNameOf(topic));
      await this.#documentsOf(topic).save(String(version), bytes);
    });
  }

  async remove(topic: string): Promise<void> {
    this.#requireOpen();
    await this.#turns.run(async () => {
      if (!this.has(topic)) return;
      await removeAtOnce(this.#files, this.#root, fileNameOf(topic));
      this.#folders.delete(fileNameOf(topic));
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#turns.idle();
  }

  #documentsOf(topic: string): FileDocumentStore {
    const folder = `${this.#root}/${fileNameOf(topic)}`;
    return new FileDocumentStore(this.#files, { folder, ending: SCHEMA_ENDING }, (damage) =>
      this.#onDamaged(topic, damage),
    );
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError(`${this.#root} is closed`);
  }
}

function byVersion<T>(documents: ReadonlyMap<string, T>): ReadonlyMap<number, T> {
  return new Map([...documents].map(([name, value]) => [Number(name), value]));
}
