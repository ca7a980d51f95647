import type { BrokerStore } from "../storage/store/broker-store.ts";
import { StorageError } from "../storage/storage-error.ts";
import { NonPersistentTopic } from "../topic/non-persistent-topic.ts";
import { PersistentTopic } from "../topic/persistent-topic.ts";
import { orRefusal, refusalOf } from "../topic/refusal.ts";
import type { TopicName } from "../topic/topic-name.ts";
import type { Topic, TopicStats, TopicSurroundings } from "../topic/topic.ts";
import { RefusalError } from "../refusal/refusal-error.ts";

/** The topics that are open, by full name, and the way to open others. */
export class Topics {
  readonly #store: BrokerStore;
  readonly #surroundings: TopicSurroundings;
  readonly #opening = new Map<string, Promise<Topic>>();
  readonly #topics = new Map<string, Topic>();
  readonly #damaged = new Map<string, RefusalError>();
  readonly #deleting = new Set<string>();
  #isClosed = false;

  constructor(store: BrokerStore, surroundings: TopicSurroundings) {
    this.#store = store;
    this.#surroundings = surroundings;
  }

  has({ full }: TopicName): boolean {
    return this.#topics.has(full) || this.#store.topics().includes(full);
  }

  names(): readonly string[] {
    return [...new Set([...this.#topics.keys(), ...this.#store.topics()])];
  }

  /**
   * Opens a topic unless it is open. One that is damaged stays closed to everybody: looking at it
   * again would find the same.
   */
  async open(name: TopicName, { mayCreate }: { readonly mayCreate: boolean }): Promise<Topic> {
    const { full } = name;
    this.#requireOpenable(name, mayCreate);
    const topic = this.#topics.get(full);
    if (topic !== undefined) return topic;
    const opening = this.#opening.get(full) ?? this.#openNew(name);
    this.#opening.set(full, opening);
    return opening;
  }

  async delete(name: TopicName, { force = false }: { readonly force?: boolean }): Promise<void> {
    const { full } = name;
    if (!this.has(name)) throw notFound(full);
    if (this.#deleting.has(full)) throw beingDeleted(full);
    await this.#opening.get(full)?.catch(() => undefined);
    const topic = this.#topics.get(full);
    if (topic?.isUsed === true && !force)
      throw new RefusalError("NotAllowedError", `topic ${full} is in use`);
    this.#deleting.add(full);
    try {
      const why = new RefusalError("TopicNotFound", `topic ${full} was deleted`);
      if (topic !== undefined) await orRefusal(topic.close(why));
      this.#topics.delete(full);
      if (name.isPersistent) await orRefusal(this.#store.removeTopic(full));
      this.#damaged.delete(full);
    } finally {
      this.#deleting.delete(full);
    }
  }

  async tidy(): Promise<void> {
    for (const [name, topic] of this.#topics) {
      await topic.tidy();
      if (topic.isUsed || !(topic instanceof NonPersistentTopic)) continue;
      this.#topics.delete(name);
      // Whoever has just got hold of it must ask again.
      await topic.close(new RefusalError("ServiceNotReady", `topic ${name} was not used`));
    }
  }

  stats(): readonly TopicStats[] {
    return [...this.#topics.values()].map((topic) => topic.stats());
  }

  /** Closes what is open and opens nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#opening.values());
    const topics = [...this.#topics.values()];
    this.#topics.clear();
    const closed = await Promise.allSettled(topics.map((topic) => topic.close(closing())));
    const failed = closed.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  async #openNew(name: TopicName): Promise<Topic> {
    const { full } = name;
    try {
      const topic = await this.#create(name);
      this.#topics.set(full, topic);
      return topic;
    } catch (error) {
      const refusal = refusalOf(error);
      const isDamaged = error instanceof StorageError && error.kind === "damaged";
      if (isDamaged && refusal instanceof RefusalError) this.#damaged.set(full, refusal);
      throw refusal;
    } finally {
      this.#opening.delete(full);
    }
  }

  async #create(name: TopicName): Promise<Topic> {
    if (!name.isPersistent) return new NonPersistentTopic(name, this.#surroundings);
    const stored = await this.#store.openTopic(name.full);
    try {
      return await PersistentTopic.open(name, stored, this.#surroundings);
    } catch (error) {
      await stored.close();
      throw error;
    }
  }

  #requireOpenable(name: TopicName, mayCreate: boolean): void {
    const { full } = name;
    if (this.#isClosed) throw closing();
    if (this.#deleting.has(full)) throw beingDeleted(full);
    const damage = this.#damaged.get(full);
    if (damage !== undefined) throw damage;
    if (this.#opening.has(full) || this.has(name)) return;
    const { autoCreateTopics, limits } = this.#surroundings.settings;
    if (!mayCreate || !autoCreateTopics) throw notFound(full);
    if (this.names().length + this.#opening.size >= limits.topicsMax)
      throw new RefusalError("NotAllowedError", `there are ${limits.topicsMax} topics already`);
  }
}

function closing(): RefusalError {
  return new RefusalError("ServiceNotReady", "the broker is closing");
}

function notFound(topic: string): RefusalError {
  return new RefusalError("TopicNotFound", `topic ${topic} does not exist`);
}

function beingDeleted(topic: string): RefusalError {
  return new RefusalError("ServiceNotReady", `topic ${topic} is being deleted`);
}
