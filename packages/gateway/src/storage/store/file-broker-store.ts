import type { BrokerObserver } from "../../observe/broker-event.ts";
import { InvariantError } from "@sluice/core";
import { systemRandom } from "@sluice/core/system";
import { requirePartitionCount } from "./broker-store.ts";
import type { BrokerStore, StoredTopic } from "./broker-store.ts";
import { replaceFile } from "../file/checked-file.ts";
import type { DocumentStore } from "../document/document-store.ts";
import { FileDocumentStore } from "../document/file-document-store.ts";
import { FileTopicLog } from "../log/file-topic-log.ts";
import type { FileLogWorld, FileTopicLogOptions } from "../log/file-topic-log.ts";
import { FileSchemaStore } from "../schema/file-schema-store.ts";
import type { SchemaStore } from "../schema/schema-store.ts";
import { findPartitionCounts, findTopics } from "./found-topics.ts";
import { removeAtOnce } from "../file/gone-folder.ts";
import { lockFolder, nodeProcesses } from "./folder-lock.ts";
import type { FolderLock } from "./folder-lock.ts";
import { nodeFiles } from "../file/node-files.ts";
import { StorageClosedError } from "../storage-error.ts";
import { fileNameOf, requireName } from "../file/stored-name.ts";
import { CacheBudget } from "../log/tail-cache.ts";
import { ReadCache } from "../log/read-cache.ts";
import {
  CURSOR_ENDING,
  DOCUMENT_ENDING,
  NAME_FILE,
  PARTITIONS_FILE,
  cursorsFolder,
  documentsFolder,
  schemasFolder,
  topicsFolder,
} from "./topic-folder.ts";
import { Turns } from "../turns.ts";

export interface FileBrokerStoreOptions {
  /** Memory for the newest entries of all topics. 64 MiB. */
  readonly cacheBytesMax?: number;
  /** Memory for what was read from files, of all topics. 16 MiB. */
  readonly readCacheBytesMax?: number;
  readonly log?: FileTopicLogOptions;
  readonly observe?: BrokerObserver;
}

/** What a store asks of the machine. */
export interface FileStoreWorld extends Pick<FileLogWorld, "files" | "random"> {
  readonly lock: (folder: string) => Promise<FolderLock>;
}

const SYSTEM: FileStoreWorld = {
  files: nodeFiles,
  random: systemRandom,
  lock: (folder) => lockFolder(nodeProcesses, folder),
};

const CACHE_BYTES_MAX = 64 * 1024 * 1024;
const READ_CACHE_BYTES_MAX = 16 * 1024 * 1024;

/**
 * A folder with everything of one broker: `topics/`, a folder each, the number of partitions of
 * those that have any, and a lock that keeps a second process out.
 */
export class FileBrokerStore implements BrokerStore {
  readonly documents: DocumentStore;
  readonly schemas: SchemaStore;
  readonly #world: FileLogWorld;
  readonly #root: string;
  readonly #logOptions: FileTopicLogOptions;
  readonly #lock: FolderLock;
  readonly #topics: Set<string>;
  readonly #partitionCounts: Map<string, number>;
  /** Topics that are open, being opened or, without a value, being removed. */
  readonly #open = new Map<string, Promise<StoredTopic | undefined>>();
  /** What changes other things than one topic. */
  readonly #changes = new Turns();
  readonly #observe: BrokerObserver;
  /** Folders of topics whose name file is damaged or missing, until the topic is used. */
  readonly #nameless: Set<string>;
  #closing: Promise<void> | undefined;

  private constructor(
    world: FileLogWorld,
    {
      root,
      lock,
      logOptions,
      observe,
    }: {
      readonly root: string;
      readonly lock: FolderLock;
      readonly logOptions: FileTopicLogOptions;
      readonly observe: BrokerObserver;
    },
    found: {
      readonly topics: Set<string>;
      readonly nameless: Set<string>;
      readonly partitionCounts: Map<string, number>;
      readonly schemas: SchemaStore;
    },
  ) {
    this.#world = world;
    this.#root = root;
    this.#lock = lock;
    this.#logOptions = logOptions;
    this.#observe = observe;
    this.#topics = found.topics;
    this.#nameless = found.nameless;
    this.#partitionCounts = found.partitionCounts;
    this.schemas = found.schemas;
    const documents = { folder: documentsFolder(root), ending: DOCUMENT_ENDING };
    this.documents = new FileDocumentStore(world.files, documents, (error) =>
      observe({ kind: "damaged", topic: undefined, error }),
    );
  }

  /** Takes the folder, which is made if it is missing. Rejects if another process has it. */
  static async open(
    root: string,
    {
      cacheBytesMax = CACHE_BYTES_MAX,
      readCacheBytesMax = READ_CACHE_BYTES_MAX,
      log: logOptions = {},
      observe = () => undefined,
    }: FileBrokerStoreOptions = {},
    { files, random, lock: takeLock }: FileStoreWorld = SYSTEM,
  ): Promise<FileBrokerStore> {
    const world = {
      files,
      random,
      cache: new CacheBudget(cacheBytesMax),
      readCache: new ReadCache(readCacheBytesMax),
    };
    await files.makeFolder(topicsFolder(root));
    const lock = await takeLock(root);
    try {
      const { topics, nameless } = await findTopics(files, root, observe);
      const partitionCounts = await findPartitionCounts(files, root);
      const schemas = await FileSchemaStore.open(files, schemasFolder(root), (topic, error) =>
        observe({ kind: "damaged", topic, error }),
      );
      const found = { topics, nameless, partitionCounts, schemas };
      return new FileBrokerStore(world, { root, lock, logOptions, observe }, found);
    } catch (error) {
      await lock.release();
      throw error;
    }
  }

  topics(): readonly string[] {
    return [...this.#topics];
  }

  async openTopic(name: string): Promise<StoredTopic> {
    this.#requireOpen();
    requireName(name);
    if (this.#open.has(name)) throw new InvariantError(`${name} is open already`);
    const opening = this.#openTopic(name);
    this.#open.set(name, opening);
    try {
      return await opening;
    } catch (error) {
      this.#open.delete(name);
      throw error;
    }
  }

  removeTopic(name: string): Promise<void> {
    return this.#changes.run(async () => {
      this.#requireOpen();
      if (this.#open.has(name)) throw new InvariantError(`${name} is open`);
      if (!this.#topics.has(name)) return;
      const removing = this.#removeTopic(name);
      this.#open.set(name, removing);
      try {
        await removing;
      } finally {
        this.#open.delete(name);
      }
    });
  }

  partitionCounts(): ReadonlyMap<string, number> {
    return this.#partitionCounts;
  }

  async savePartitionCount(topic: string, count: number): Promise<void> {
    requireName(topic);
    requirePartitionCount(count);
    await this.#savePartitions((counts) => counts.set(topic, count));
  }

  async removePartitionCount(topic: string): Promise<void> {
    await this.#savePartitions((counts) => counts.delete(topic));
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    const closed = await Promise.allSettled(
      opened.flatMap((topic) => (topic.status === "fulfilled" ? (topic.value?.close() ?? []) : [])),
    );
    await this.#changes.idle();
    await Promise.all([this.documents.close(), this.schemas.close()]);
    await this.#lock.release();
    for (const outcome of closed) if (outcome.status === "rejected") throw outcome.reason;
  }

  async #openTopic(name: string): Promise<StoredTopic> {
    const folder = this.#folderOf(name);
    if (!this.#topics.has(name)) await this.#makeTopic(name, folder);
    const log = await FileTopicLog.open(this.#world, folder, this.#logOptions, (event) =>
      this.#observe({ ...event, topic: name }),
    );
    const place = { folder: cursorsFolder(folder), ending: CURSOR_ENDING };
    const cursors = new FileDocumentStore(this.#world.files, place, (error) =>
      this.#observe({ kind: "damaged", topic: name, error }),
    );
    const close = async (): Promise<void> => {
      try {
        await cursors.close();
        await log.close();
      } finally {
        this.#open.delete(name);
      }
    };
    return { log, cursors, close };
  }

  async #makeTopic(name: string, folder: string): Promise<void> {
    const { files } = this.#world;
    await files.makeFolder(folder);
    await replaceFile(files, { folder, name: NAME_FILE }, Buffer.from(name));
    this.#topics.add(name);
    // The name of its folder has a hash of the topic's name, so this is the right one.
    if (this.#nameless.delete(fileNameOf(name))) this.#observe({ kind: "healed", topic: name });
  }

  /** In one step, before any of its files goes: a crash leaves a whole topic or none. */
  async #removeTopic(name: string): Promise<undefined> {
    await removeAtOnce(this.#world.files, topicsFolder(this.#root), fileNameOf(name));
    this.#topics.delete(name);
  }

  /** What others see changes once it is durable. */
  #savePartitions(change: (counts: Map<string, number>) => void): Promise<void> {
    this.#requireOpen();
    return this.#changes.run(async () => {
      const counts = new Map(this.#partitionCounts);
      change(counts);
      const content = Buffer.from(JSON.stringify([...counts]));
      const place = { folder: this.#root, name: PARTITIONS_FILE };
      await replaceFile(this.#world.files, place, content);
      change(this.#partitionCounts);
    });
  }

  #folderOf(name: string): string {
    return `${topicsFolder(this.#root)}/${fileNameOf(name)}`;
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new StorageClosedError(`${this.#root} is closed`);
  }
}
