import { InvariantError } from "@sluice/core";
import { systemRandom } from "@sluice/core/system";
import { requirePartitionCount } from "./broker-store.ts";
import type { BrokerStore, StoredTopic } from "./broker-store.ts";
import { UNFINISHED, readChecked, replaceFile } from "../file/checked-file.ts";
import type { DocumentStore } from "../document/document-store.ts";
import { FileDocumentStore } from "../document/file-document-store.ts";
import { FileTopicLog } from "../log/file-topic-log.ts";
import type { FileLogWorld, FileTopicLogOptions } from "../log/file-topic-log.ts";
import { lockFolder, nodeProcesses } from "./folder-lock.ts";
import type { FolderLock } from "./folder-lock.ts";
import type { LogFiles } from "../file/log-files.ts";
import { nodeFiles } from "../file/node-files.ts";
import { StorageClosedError, StorageError } from "../storage-error.ts";
import { fileNameOf, requireName } from "../file/stored-name.ts";
import { CacheBudget } from "../log/tail-cache.ts";
import { Turns } from "../turns.ts";

export interface FileBrokerStoreOptions {
  /** Memory for the newest entries of all topics. 64 MiB. */
  readonly cacheBytesMax?: number;
  readonly log?: FileTopicLogOptions;
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

const NAME_FILE = "name";
const PARTITIONS_FILE = "partitions";

/** Ends the name of a folder whose topic is removed, until its files are. */
const GONE = ".gone";

/**
 * A folder with everything of one broker: `topics/`, a folder each, the number of partitions of
 * those that have any, and a lock that keeps a second process out.
 */
export class FileBrokerStore implements BrokerStore {
  readonly documents: DocumentStore;
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
  #closing: Promise<void> | undefined;

  private constructor(
    world: FileLogWorld,
    {
      root,
      lock,
      logOptions,
    }: {
      readonly root: string;
      readonly lock: FolderLock;
      readonly logOptions: FileTopicLogOptions;
    },
    found: { readonly topics: Set<string>; readonly partitionCounts: Map<string, number> },
  ) {
    this.#world = world;
    this.#root = root;
    this.#lock = lock;
    this.#logOptions = logOptions;
    this.#topics = found.topics;
    this.#partitionCounts = found.partitionCounts;
    this.documents = new FileDocumentStore(world.files, {
      folder: `${root}/documents`,
      ending: ".document",
    });
  }

  /** Takes the folder, which is made if it is missing. Rejects if another process has it. */
  static async open(
    root: string,
    { cacheBytesMax = CACHE_BYTES_MAX, log: logOptions = {} }: FileBrokerStoreOptions = {},
    { files, random, lock: takeLock }: FileStoreWorld = SYSTEM,
  ): Promise<FileBrokerStore> {
    const world = { files, random, cache: new CacheBudget(cacheBytesMax) };
    await files.makeFolder(topicsFolder(root));
    const lock = await takeLock(root);
    try {
      const topics = await findTopics(files, root);
      const partitionCounts = await findPartitionCounts(files, root);
      return new FileBrokerStore(world, { root, lock, logOptions }, { topics, partitionCounts });
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
    await this.documents.close();
    await this.#lock.release();
    for (const outcome of closed) if (outcome.status === "rejected") throw outcome.reason;
  }

  async #openTopic(name: string): Promise<StoredTopic> {
    const folder = this.#folderOf(name);
    if (!this.#topics.has(name)) await this.#makeTopic(name, folder);
    const log = await FileTopicLog.open(this.#world, folder, this.#logOptions);
    const cursors = new FileDocumentStore(this.#world.files, {
      folder: `${folder}/cursors`,
      ending: ".cursor",
    });
    const close = async (): Promise<void> => {
      try {
        await cursors.close();
        await log.close();
      } finally {
        this.#open.delete(name);
      }
    };
    return { log, cursors, cutBytes: log.cutBytes, close };
  }

  async #makeTopic(name: string, folder: string): Promise<void> {
    const { files } = this.#world;
    await files.makeFolder(folder);
    await replaceFile(files, { folder, name: NAME_FILE }, Buffer.from(name));
    this.#topics.add(name);
  }

  /** In one step, before any of its files goes: a crash leaves a whole topic or none. */
  async #removeTopic(name: string): Promise<undefined> {
    const { files } = this.#world;
    const folder = this.#folderOf(name);
    await files.rename(folder, `${folder}${GONE}`);
    await files.syncFolder(topicsFolder(this.#root));
    this.#topics.delete(name);
    await files.removeFolder(`${folder}${GONE}`);
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

function topicsFolder(root: string): string {
  return `${root}/topics`;
}

/** Names of all topics; what was being made or removed in a crash goes. */
async function findTopics(files: LogFiles, root: string): Promise<Set<string>> {
  const topics = new Set<string>();
  for (const folderName of await files.list(topicsFolder(root))) {
    const folder = `${topicsFolder(root)}/${folderName}`;
    const inside = folderName.endsWith(GONE) ? [] : await files.list(folder);
    if (inside.includes(NAME_FILE)) {
      topics.add((await readChecked(files, `${folder}/${NAME_FILE}`)).toString());
    } else if (inside.some((file) => file.endsWith(".log"))) {
      const spot = { file: `${folder}/${NAME_FILE}` };
      throw new StorageError("damaged", `${spot.file} is missing`, { spot });
    } else {
      await files.removeFolder(folder);
    }
  }
  return topics;
}

async function findPartitionCounts(files: LogFiles, root: string): Promise<Map<string, number>> {
  const inside = await files.list(root);
  if (inside.includes(`${PARTITIONS_FILE}${UNFINISHED}`))
    await files.remove(`${root}/${PARTITIONS_FILE}${UNFINISHED}`);
  if (!inside.includes(PARTITIONS_FILE)) return new Map();
  const content = await readChecked(files, `${root}/${PARTITIONS_FILE}`);
  return new Map(JSON.parse(content.toString()) as [string, number][]);
}
