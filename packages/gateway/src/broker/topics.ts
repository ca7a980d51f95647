import type { BrokerStore } from "../storage/store/broker-store.ts";
import { StorageError } from "../storage/storage-error.ts";
import { NonPersistentTopic } from "../topic/non-persistent-topic.ts";
import { PersistentTopic } from "../topic/persistent-topic.ts";
import { orRefusal, refusalOf } from "../topic/refusal.ts";
import { parseTopicName } from "../name/topic-name.ts";
import type { TopicName } from "../name/topic-name.ts";
import { atOnce, inTurns, Listing } from "../topic/stats-steps.ts";
import type { TopicStats } from "../topic/topic-stats.ts";
import type { Stop, Topic, TopicSurroundings } from "../topic/topic.ts";
import { RefusalError } from "../refusal/refusal-error.ts";
import { TopicIndex } from "./topic-index.ts";

/** Topics that are looked after at once, before other work gets a turn of the event loop. */
const TOPICS_PER_TURN = 100;

interface OpenTopic {
  readonly name: TopicName;
  readonly topic: Topic;
  usedAtMs: number;
}

/** Whether a topic that is not there is created. An administrator may where clients may not. */
export interface Creation {
  readonly mayCreate: boolean;
  readonly byAdministrator?: boolean;
}

/**
 * The topics of a broker. A topic is opened when it is first used and unloaded when it is idle. One
 * that has stopped or is damaged is refused for `stoppedRetryMs`, then the next client opens it again.
 */
export class Topics {
  readonly index: TopicIndex = new TopicIndex();
  readonly #store: BrokerStore;
  readonly #surroundings: TopicSurroundings;
  readonly #opening = new Map<string, Promise<Topic>>();
  /** The least recently opened first. */
  readonly #open = new Map<string, OpenTopic>();
  /** Topics that could not be opened, because what is stored is damaged. */
  readonly #damaged = new Map<string, Stop>();
  /** Unloads and deletions under way. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #deleting = new Set<string>();
  #isClosed = false;

  constructor(store: BrokerStore, surroundings: TopicSurroundings) {
    this.#store = store;
    this.#surroundings = surroundings;
    for (const topic of store.topics()) this.index.add(parseTopicName(topic));
    for (const [topic, count] of store.partitionCounts())
      this.index.setPartitions(parseTopicName(topic), count);
  }

  /** Opens a topic unless it is open. */
  async open(name: TopicName, may: Creation): Promise<Topic> {
    const { full } = name;
    if (this.#deleting.has(full)) throw beingDeleted(full);
    await this.#closing.get(full);
    this.#requireOpenable(name, may);
    const open = this.#open.get(full);
    if (open !== undefined && open.topic.stopped === undefined) {
      this.#touch(open);
      return open.topic;
    }
    const opening = this.#opening.get(full) ?? this.#openNew(name);
    this.#opening.set(full, opening);
    return opening;
  }

  /**
   * Deletes all of these topics or, if one of them is in use, none. `removeRest` removes what else
   * belongs to them, before a client can create them again.
   */
  async delete(
    names: readonly TopicName[],
    { force, removeRest }: { readonly force: boolean; readonly removeRest: () => Promise<void> },
  ): Promise<void> {
    // A topic that could not be opened may be opened again meanwhile.
    while (names.some(({ full }) => this.#opening.has(full)))
      await Promise.allSettled(names.flatMap(({ full }) => this.#opening.get(full) ?? []));
    for (const { full } of names) {
      if (this.#deleting.has(full)) throw beingDeleted(full);
      if (this.#open.get(full)?.topic.isUsed === true && !force)
        throw new RefusalError("NotAllowedError", `topic ${full} is in use`);
    }
    for (const { full } of names) this.#deleting.add(full);
    try {
      for (const name of names) await this.#delete(name);
      await removeRest();
    } finally {
      for (const { full } of names) this.#deleting.delete(full);
    }
  }

  /** Closes a topic and its files. Its clients come back and open it again. */
  async unload(name: TopicName): Promise<void> {
    const { full } = name;
    await this.#opening.get(full)?.catch(() => undefined);
    await orRefusal(this.#close(full, unloaded(full)));
    this.#damaged.delete(full);
    if (!name.isPersistent) this.index.remove(name);
  }

  /** Applies retention to the open topics and unloads those that were idle for long enough. */
  async tidy(): Promise<void> {
    const { settings } = this.#surroundings;
    for await (const open of this.#openInTurns()) {
      await open.topic.tidy();
      const nowMs = this.#nowMs;
      if (open.topic.isUsed) open.usedAtMs = nowMs;
      // A non-persistent topic has nothing to keep.
      const idleMaxMs = open.name.isPersistent ? settings.idleUnloadMs : 0;
      const isIdle = !open.topic.isUsed && nowMs - open.usedAtMs >= idleMaxMs;
      if (isIdle && open.topic.stopped === undefined) await this.#unloadIdle(open);
    }
  }

  /** Applies backlog quotas to the open topics. */
  async check(): Promise<void> {
    for await (const { topic } of this.#openInTurns()) await topic.check();
  }

  stats(): readonly TopicStats[] {
    const listing = new Listing();
    return [...this.#open.values()].map(({ topic }) => atOnce(topic.stats(listing)));
  }

  /** The same, without keeping other work waiting: 10,000 topics take 50 ms. */
  async statsInTurns(listedMax: number): Promise<readonly TopicStats[]> {
    const listing = new Listing(listedMax);
    const { nextTurn } = this.#surroundings;
    const stats: TopicStats[] = [];
    for await (const { topic } of this.#openInTurns())
      stats.push(await inTurns(topic.stats(listing), nextTurn));
    return stats;
  }

  /** Closes what is open and opens nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled([...this.#opening.values(), ...this.#closing.values()]);
    const closed = await Promise.allSettled(
      [...this.#open.keys()].map((full) => this.#close(full, closing())),
    );
    const failed = closed.find((result) => result.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }

  /** The topics that are open. Other work gets a turn of the event loop after each hundred. */
  async *#openInTurns(): AsyncGenerator<OpenTopic> {
    // A copy: a topic that is opened meanwhile changes its place.
    for (const [index, open] of [...this.#open.values()].entries()) {
      if (index % TOPICS_PER_TURN === TOPICS_PER_TURN - 1) await this.#surroundings.nextTurn();
      yield open;
    }
  }

  async #delete(name: TopicName): Promise<void> {
    const { full } = name;
    const why = new RefusalError("TopicNotFound", `topic ${full} was deleted`);
    await orRefusal(this.#close(full, why));
    if (name.isPersistent) await orRefusal(this.#store.removeTopic(full));
    this.#damaged.delete(full);
    this.index.remove(name);
  }

  async #openNew(name: TopicName): Promise<Topic> {
    const { full } = name;
    try {
      // What has stopped is closed before its files are opened again.
      await this.#close(full, closing()).catch(() => undefined);
      await this.#makeRoom();
      const topic = await this.#create(name);
      this.#open.set(full, { name, topic, usedAtMs: this.#nowMs });
      this.index.add(name);
      return topic;
    } catch (error) {
      const refusal = refusalOf(error);
      const isDamaged = error instanceof StorageError && error.kind === "damaged";
      if (isDamaged && refusal instanceof RefusalError) {
        this.#damaged.set(full, { why: refusal, atMs: this.#nowMs });
        this.#surroundings.observe({ kind: "topic-stopped", topic: full, error });
      }
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

  /** Unloads the topics that were idle longest while too many are open. Used ones stay open. */
  async #makeRoom(): Promise<void> {
    const { openTopicsMax } = this.#surroundings.settings.limits;
    let excess = this.#open.size + 1 - openTopicsMax;
    const idlestFirst = excess > 0 ? [...this.#open.values()] : [];
    for (const open of idlestFirst) {
      if (excess <= 0) return;
      if (open.topic.isUsed || !open.name.isPersistent) continue;
      await this.#unloadIdle(open);
      excess--;
    }
  }

  /** Without a turn between the question and the close: a client that has just come is not sent away. */
  async #unloadIdle({ name, topic }: OpenTopic): Promise<void> {
    if (topic.isUsed || this.#opening.has(name.full)) return;
    try {
      await this.#close(name.full, unloaded(name.full));
      if (!name.isPersistent) this.index.remove(name);
    } catch (error) {
      this.#surroundings.observe({ kind: "error", error });
    }
  }

  /** Closes a topic if it is open. */
  async #close(full: string, why: RefusalError): Promise<void> {
    const underWay = this.#closing.get(full);
    if (underWay !== undefined) await underWay;
    const open = this.#open.get(full);
    if (open === undefined) return;
    const closed = open.topic.close(why).finally(() => {
      this.#open.delete(full);
      this.#closing.delete(full);
    });
    this.#closing.set(
      full,
      closed.catch(() => undefined),
    );
    await closed;
  }

  #touch(open: OpenTopic): void {
    const { full } = open.name;
    open.usedAtMs = this.#nowMs;
    this.#open.delete(full);
    this.#open.set(full, open);
  }

  #requireOpenable(name: TopicName, { mayCreate, byAdministrator = false }: Creation): void {
    const { full } = name;
    if (this.#isClosed) throw closing();
    if (this.#deleting.has(full)) throw beingDeleted(full);
    this.#requireHealthy(full);
    if (this.#opening.has(full) || this.index.lists(name)) return;
    const { autoCreateTopics, limits } = this.#surroundings.settings;
    const isAllowed = mayCreate && (byAdministrator || autoCreateTopics);
    if (!isAllowed) throw notFound(full);
    if (this.index.size + this.#opening.size >= limits.topicsMax)
      throw new RefusalError("NotAllowedError", `there are ${limits.topicsMax} topics already`);
  }

  #requireHealthy(full: string): void {
    const stop = this.#damaged.get(full) ?? this.#open.get(full)?.topic.stopped;
    if (stop === undefined) return;
    if (this.#nowMs - stop.atMs < this.#surroundings.settings.stoppedRetryMs) throw stop.why;
    this.#damaged.delete(full);
  }

  get #nowMs(): number {
    return this.#surroundings.timer.now();
  }
}

function closing(): RefusalError {
  return new RefusalError("ServiceNotReady", "the broker is closing");
}

function unloaded(topic: string): RefusalError {
  return new RefusalError("ServiceNotReady", `topic ${topic} was unloaded`);
}

export function notFound(topic: string): RefusalError {
  return new RefusalError("TopicNotFound", `topic ${topic} does not exist`);
}

function beingDeleted(topic: string): RefusalError {
  return new RefusalError("ServiceNotReady", `topic ${topic} is being deleted`);
}
