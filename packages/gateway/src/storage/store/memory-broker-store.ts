import { InvariantError } from "@sluice/core";
import { requirePartitionCount } from "./broker-store.ts";
import type { BrokerStore, StoredTopic } from "./broker-store.ts";
import type { DocumentStore } from "../document/document-store.ts";
import { MemoryDocumentStore } from "../document/memory-document-store.ts";
import { MemoryTopicLog } from "../log/memory-topic-log.ts";
import type { MemoryTopicLogOptions } from "../log/memory-topic-log.ts";
import { MemorySchemaStore } from "../schema/memory-schema-store.ts";
import type { SchemaStore } from "../schema/schema-store.ts";
import { settled } from "../file/settled.ts";
import { StorageClosedError } from "../storage-error.ts";
import { requireName } from "../file/stored-name.ts";

interface MemoryTopic {
  readonly log: MemoryTopicLog;
  readonly cursors: Map<string, Uint8Array>;
}

/** A broker's topics as long as its process lives. */
export class MemoryBrokerStore implements BrokerStore {
  readonly documents: DocumentStore = new MemoryDocumentStore();
  readonly schemas: SchemaStore = new MemorySchemaStore();
  readonly #logOptions: MemoryTopicLogOptions;
  readonly #topics = new Map<string, MemoryTopic>();
  readonly #open = new Map<string, StoredTopic>();
  readonly #partitionCounts = new Map<string, number>();
  #isClosed = false;

  constructor({ log = {} }: { readonly log?: MemoryTopicLogOptions } = {}) {
    this.#logOptions = log;
  }

  topics(): readonly string[] {
    return [...this.#topics.keys()];
  }

  openTopic(name: string): Promise<StoredTopic> {
    return settled(() => this.#openTopic(name));
  }

  removeTopic(name: string): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      if (this.#open.has(name)) throw new InvariantError(`${name} is open`);
      this.#topics.delete(name);
    });
  }

  partitionCounts(): ReadonlyMap<string, number> {
    return this.#partitionCounts;
  }

  savePartitionCount(topic: string, count: number): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      requireName(topic);
      requirePartitionCount(count);
      this.#partitionCounts.set(topic, count);
    });
  }

  removePartitionCount(topic: string): Promise<void> {
    return settled(() => {
      this.#requireOpen();
      this.#partitionCounts.delete(topic);
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all([
      this.documents.close(),
      this.schemas.close(),
      ...[...this.#open.values()].map((topic) => topic.close()),
    ]);
  }

  #openTopic(name: string): StoredTopic {
    this.#requireOpen();
    requireName(name);
    if (this.#open.has(name)) throw new InvariantError(`${name} is open already`);
    const former = this.#topics.get(name);
    const log = former?.log.reopened() ?? new MemoryTopicLog(this.#logOptions);
    const cursors = former?.cursors ?? new Map<string, Uint8Array>();
    this.#topics.set(name, { log, cursors });
    const cursorStore = new MemoryDocumentStore(cursors);
    const close = async (): Promise<void> => {
      await Promise.all([log.close(), cursorStore.close()]);
      this.#open.delete(name);
    };
    const topic = { log, cursors: cursorStore, close };
    this.#open.set(name, topic);
    return topic;
  }

  #requireOpen(): void {
    if (this.#isClosed) throw new StorageClosedError("the store is closed");
  }
}
