import { RefusalError } from "../refusal/refusal-error.ts";
import type { StoredTopic } from "../storage/store/broker-store.ts";
import { StorageError } from "../storage/storage-error.ts";
import type { Position } from "../storage/position.ts";
import { Cursor } from "../subscription/cursor.ts";
import { decodeCursor } from "../storage/cursor/cursor-codec.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer-handle.ts";
import { CursorKeeper } from "./cursor-keeper.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer-handle.ts";
import { Producers } from "./producers.ts";
import { orRefusal, refusalOf } from "./refusal.ts";
import { RoomWatch } from "./room-watch.ts";
import { Subscriptions } from "./subscriptions.ts";
import { TOPIC_EPOCH_NAME, decodeTopicEpoch, encodeTopicEpoch } from "./topic-epoch.ts";
import type { TopicName } from "./topic-name.ts";
import type { Topic, TopicStats, TopicSurroundings } from "./topic.ts";

/**
 * A topic with a log. It stops for good when its log does: everybody is told, and nobody else is let
 * in until it is opened again.
 */
export class PersistentTopic implements Topic {
  readonly #name: TopicName;
  readonly #stored: StoredTopic;
  readonly #surroundings: TopicSurroundings;
  readonly #keeper: CursorKeeper;
  readonly #producers: Producers;
  readonly #subscriptions: Subscriptions;
  readonly #room: RoomWatch;
  #ended: RefusalError | undefined;
  #isTrimDue = false;
  #trimming: Promise<void> | undefined;
  #newestLedgerId: number;

  private constructor(
    name: TopicName,
    stored: StoredTopic,
    { surroundings, topicEpoch }: { surroundings: TopicSurroundings; topicEpoch: bigint },
  ) {
    this.#name = name;
    this.#stored = stored;
    this.#surroundings = surroundings;
    const { timer, names, nextTurn, settings } = surroundings;
    this.#keeper = new CursorKeeper(timer, stored.cursors, {
      saveMs: settings.cursorSaveMs,
    });
    this.#producers = new Producers(names, {
      topicEpoch,
      saveTopicEpoch: (epoch) => this.#saveTopicEpoch(epoch),
      publish: (publication) => this.#publish(publication),
      producersMax: settings.limits.producersPerTopicMax,
    });
    this.#subscriptions = new Subscriptions(stored.log, this.#keeper, {
      settings,
      names,
      nextTurn,
      partition: name.partition?.index,
      onLedgerConsumed: () => void this.#trim(),
      onFailed: (error) => this.#stop(error),
    });
    this.#room = new RoomWatch(timer);
    this.#newestLedgerId = stored.log.end.ledgerId;
  }

  /**
   * Takes the stored topic over. A subscription whose cursor is damaged restarts at the earliest
   * entry that is kept. Rejects with a `StorageError` if the topic epoch is damaged.
   */
  static async open(
    name: TopicName,
    stored: StoredTopic,
    surroundings: TopicSurroundings,
  ): Promise<PersistentTopic> {
    const { documents, damaged } = await stored.cursors.load();
    const cursors = new Map(documents);
    // Without its epoch a topic could let a fenced producer back in.
    const epochDamage = damaged.get(TOPIC_EPOCH_NAME);
    if (epochDamage !== undefined) throw epochDamage;
    const topicEpoch = decodeTopicEpoch(cursors.get(TOPIC_EPOCH_NAME));
    cursors.delete(TOPIC_EPOCH_NAME);
    const topic = new PersistentTopic(name, stored, { surroundings, topicEpoch });
    for (const [subscription, bytes] of cursors)
      topic.#subscriptions.restore(subscription, new Cursor(stored.log, decodeCursor(bytes)));
    // Where a damaged cursor was is unknown: all that is kept is delivered again, nothing is lost.
    for (const subscription of damaged.keys())
      topic.#subscriptions.restore(subscription, Cursor.startingAt(stored.log, stored.log.first));
    return topic;
  }

  get isUsed(): boolean {
    return this.#producers.size > 0 || this.#subscriptions.isUsed;
  }

  async openProducer(request: ProducerRequest): Promise<ProducerHandle> {
    const { initialSubscription } = request;
    if (initialSubscription !== undefined) await this.#subscriptions.ensure(initialSubscription);
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#room.isFull) throw this.#room.refusal();
    return this.#producers.open(request);
  }

  subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    return this.#subscriptions.subscribe(request);
  }

  async tidy(): Promise<void> {
    this.#subscriptions.tidy();
    await this.#trim();
  }

  stats(): TopicStats {
    const failure = this.#ended?.cause ?? this.#ended ?? this.#keeper.failure;
    return {
      name: this.#name.full,
      producers: this.#producers.size,
      sizeBytes: this.#stored.log.sizeBytes,
      droppedMessages: 0,
      failure: failure instanceof Error ? failure.message : undefined,
      subscriptions: this.#subscriptions.stats(),
    };
  }

  async close(why: RefusalError): Promise<void> {
    await this.#end(why);
    await this.#keeper.close();
    await this.#stored.close();
  }

  #publish({ parts, messageCount }: Publication): Promise<Position> {
    const { wallClock } = this.#surroundings;
    const { log } = this.#stored;
    const entry = { parts, messageCount, publishedAtMs: Math.floor(wallClock.now()) };
    if (!this.#room.isFull && !log.hasRoomFor(entry)) this.#room.onFull();
    if (this.#room.isFull) return Promise.reject(this.#room.refusal());
    return log.append(entry).then(
      (position) => {
        this.#subscriptions.wake();
        // Without subscriptions nothing else tells that there is something to remove.
        if (position.ledgerId !== this.#newestLedgerId) {
          this.#newestLedgerId = position.ledgerId;
          void this.#trim();
        }
        return position;
      },
      (error: unknown) => {
        if (log.failure !== undefined) this.#stop(error);
        if (!(error instanceof StorageError) || error.kind !== "full") throw refusalOf(error);
        this.#room.onFull();
        throw this.#room.refusal(error);
      },
    );
  }

  #saveTopicEpoch(epoch: bigint): Promise<void> {
    return orRefusal(this.#stored.cursors.save(TOPIC_EPOCH_NAME, encodeTopicEpoch(epoch)));
  }

  /** One at a time; what is consumed while one runs is seen by the next. */
  #trim(): Promise<void> {
    this.#isTrimDue = true;
    this.#trimming ??= this.#trimWhileDue();
    return this.#trimming;
  }

  async #trimWhileDue(): Promise<void> {
    while (this.#isTrimDue && this.#ended === undefined) {
      this.#isTrimDue = false;
      await this.#trimNow();
    }
    this.#trimming = undefined;
  }

  async #trimNow(): Promise<void> {
    const { log } = this.#stored;
    const { consumedBefore } = this.#subscriptions;
    // Whole segments go, and never the newest.
    if (consumedBefore.ledgerId === log.first.ledgerId) return;
    const { wallClock, settings } = this.#surroundings;
    try {
      await log.trim({ nowMs: wallClock.now(), consumedBefore, ...settings.retention });
    } catch (error) {
      // What could not be removed now is tried again.
      if (log.failure !== undefined) this.#stop(error);
    }
  }

  /** Nothing can be promised any more. */
  #stop(error: unknown): void {
    const why = `topic ${this.#name.full} has stopped`;
    void this.#end(new RefusalError("PersistenceError", why, { cause: error }));
  }

  async #end(why: RefusalError): Promise<void> {
    this.#ended ??= why;
    this.#producers.endAll(why);
    await this.#subscriptions.end(why);
  }
}
