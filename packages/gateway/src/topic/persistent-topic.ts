import { RefusalError } from "../refusal/refusal-error.ts";
import type { StoredEntry } from "../storage/log/topic-log.ts";
import type { StoredTopic } from "../storage/store/broker-store.ts";
import type { Position } from "../storage/position.ts";
import { Cursor } from "../subscription/cursor/cursor.ts";
import { decodeCursor } from "../storage/cursor/cursor-codec.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer/consumer-handle.ts";
import { CursorKeeper } from "./subscription/cursor-keeper.ts";
import { BacklogQuotaCheck } from "./backlog-quota.ts";
import type { Deduplication } from "./producer/deduplication.ts";
import { ProducerBlock, blockedRefusal, quotaException } from "./producer/producer-block.ts";
import type { BlockReason } from "./producer/producer-block.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer/producer-handle.ts";
import { Publisher } from "./producer/publisher.ts";
import type { Producer } from "./producer/producer.ts";
import { orRefusal } from "./refusal.ts";
import {
  TERMINATED_MARK,
  TERMINATED_NAME,
  TOPIC_EPOCH_NAME,
  encodeTopicEpoch,
} from "./topic-marks.ts";
import { readFormer } from "./former-topic.ts";
import type { FormerTopic } from "./former-topic.ts";
import type { TopicName } from "../name/topic-name.ts";
import { TopicTrim } from "./topic-trim.ts";
import { TopicProducers } from "./producer/topic-producers.ts";
import type { Listing, Steps } from "./stats-steps.ts";
import type { TopicStats } from "./topic-stats.ts";
import { TopicSubscriptions } from "./subscription/topic-subscriptions.ts";
import type { Stop, Topic, TopicSurroundings } from "./topic.ts";
import { sumOf } from "./traffic.ts";

/**
 * A topic with a log. It stops when its log fails: producers and consumers are closed and refused
 * until the topic is opened again.
 */
export class PersistentTopic implements Topic {
  readonly subscriptions: TopicSubscriptions;
  readonly #name: TopicName;
  readonly #stored: StoredTopic;
  readonly #surroundings: TopicSurroundings;
  readonly #keeper: CursorKeeper;
  readonly #producers: TopicProducers;
  readonly #block: ProducerBlock;
  readonly #quota: BacklogQuotaCheck;
  readonly #deduplication: Deduplication;
  readonly #trim: TopicTrim;
  readonly #publisher: Publisher;
  readonly #openedAtMs: number;
  #isTerminated: boolean;
  #terminating: Promise<Position | undefined> | undefined;
  #stopped: Stop | undefined;
  #ended: RefusalError | undefined;

  private constructor(
    name: TopicName,
    stored: StoredTopic,
    { surroundings, former }: { surroundings: TopicSurroundings; former: FormerTopic },
  ) {
    this.#name = name;
    this.#stored = stored;
    this.#surroundings = surroundings;
    const { timer, names, wallClock, settings } = surroundings;
    this.#keeper = new CursorKeeper(timer, stored.cursors, { saveMs: settings.cursorSaveMs });
    this.#producers = new TopicProducers(names, {
      wallClock,
      topicEpoch: former.topicEpoch,
      saveTopicEpoch: (epoch) => this.#saveTopicEpoch(epoch),
      publish: (producer, publication) => this.#publish(producer, publication),
      onOpened: (producer) => former.deduplication.onOpened(producer),
      producersMax: settings.limits.producersPerTopicMax,
    });
    this.subscriptions = new TopicSubscriptions(stored.log, this.#keeper, {
      topic: name,
      surroundings,
      onLedgerConsumed: () => void this.#trim.run(),
      onFailed: (error) => this.#stop(error),
    });
    this.#block = new ProducerBlock(timer, (reason) => this.#tellBlocked(reason));
    this.#quota = new BacklogQuotaCheck({
      log: stored.log,
      subscriptions: this.subscriptions,
      block: this.#block,
      wallClock,
      quota: () => surroundings.policies.of(name).backlogQuota,
    });
    this.#openedAtMs = wallClock.now();
    this.#publisher = new Publisher({
      log: stored.log,
      wallClock,
      block: this.#block,
      deduplication: former.deduplication,
      onStored: (bytes) => this.#quota.onPublished(bytes),
      onReadable: (isFirst) => this.#onReadable(isFirst),
      onFailed: (error) => this.#stop(error),
    });
    this.#deduplication = former.deduplication;
    this.#trim = new TopicTrim({
      topic: name,
      log: stored.log,
      surroundings,
      subscriptions: this.subscriptions,
      deduplication: former.deduplication,
      isEnded: () => this.#ended !== undefined,
      onFreed: () => this.#block.retry(),
      onFailed: (error) => this.#stop(error),
    });
    this.#isTerminated = former.isTerminated;
    if (former.isTerminated) this.subscriptions.terminate();
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
    const { cursors, damagedCursors, ...former } = await readFormer(name, stored, surroundings);
    const topic = new PersistentTopic(name, stored, { surroundings, former });
    const { log } = stored;
    for (const [subscription, bytes] of cursors) {
      const cursor = new Cursor(log, decodeCursor(bytes));
      topic.subscriptions.restore(subscription, cursor);
      if (cursor.aheadAt !== undefined) topic.#onReset(subscription, "ahead-of-log", cursor);
    }
    // Where a damaged cursor was is unknown: all that is kept is delivered again, nothing is lost.
    for (const subscription of damagedCursors) {
      const cursor = Cursor.startingAt(log, log.first);
      topic.subscriptions.restore(subscription, cursor);
      topic.#onReset(subscription, "damaged", cursor);
    }
    topic.#quota.start();
    return topic;
  }

  get isUsed(): boolean {
    return this.#producers.size > 0 || this.subscriptions.isUsed;
  }

  get stopped(): Stop | undefined {
    return this.#stopped;
  }

  async openProducer(request: ProducerRequest): Promise<ProducerHandle> {
    const { initialSubscription } = request;
    this.#requirePublishable();
    if (initialSubscription !== undefined) await this.subscriptions.ensure(initialSubscription);
    if (this.#deduplication.isStale) await orRefusal(this.#deduplication.apply());
    // What the former producer of the name has sent is stored, or will not be.
    if (this.#deduplication.isOn) await this.#publisher.settled();
    this.#requirePublishable();
    return this.#producers.open(request);
  }

  subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    return this.subscriptions.subscribe(request);
  }

  /** Refuses producers from now on, also after a restart. Answers the position of the last entry. */
  terminate(): Promise<Position | undefined> {
    this.#terminating ??= this.#terminate();
    return this.#terminating;
  }

  entryAt(position: Position): Promise<StoredEntry | undefined> {
    return orRefusal(this.subscriptions.entryAt(position));
  }

  /** The entry at a place counted from 1, from the first entry on or from the last one back. */
  async examine(from: "earliest" | "latest", place: number): Promise<StoredEntry | undefined> {
    const { log } = this.#stored;
    let position = from === "earliest" ? log.first : log.last;
    for (let step = 1; step < place && position !== undefined; step++)
      position = from === "earliest" ? log.next(position) : log.previous(position);
    return position && this.entryAt(position);
  }

  lastEntry(): Promise<StoredEntry | undefined> {
    return orRefusal(this.subscriptions.lastEntry());
  }

  positionAtTime(atMs: number): Promise<Position> {
    return orRefusal(this.#stored.log.positionAtTime(atMs));
  }

  async tidy(): Promise<void> {
    const nowMs = this.#surroundings.wallClock.now();
    this.#publisher.in.sample(nowMs);
    this.#producers.sample(nowMs);
    this.subscriptions.sample(nowMs);
    this.subscriptions.tidy();
    await this.#applyTtl(nowMs);
    await this.#trim.run();
  }

  async check(): Promise<void> {
    if (this.#ended !== undefined) return;
    try {
      if (this.#deduplication.isStale) await this.#deduplication.apply();
      await this.#quota.check();
    } catch (error) {
      this.#onReadFailed(error);
    }
  }

  *stats(listing: Listing): Steps<TopicStats> {
    const producers = yield* this.#producers.stats(listing);
    const subscriptions = yield* this.subscriptions.stats(listing);
    const failure = this.#ended?.cause ?? this.#ended ?? this.#keeper.failure;
    return {
      name: this.#name.full,
      producers,
      producerCount: this.#producers.size,
      subscriptions,
      sizeBytes: this.#stored.log.sizeBytes,
      in: this.#publisher.in.stats,
      out: sumOf(subscriptions.map(({ out }) => out)),
      openedAtMs: this.#openedAtMs,
      publishedAtMs: this.#publisher.publishedAtMs,
      droppedMessages: 0,
      isTerminated: this.#isTerminated,
      isDeduplicated: this.#deduplication.isOn,
      blocked: this.#block.reason,
      failure: failure instanceof Error ? failure.message : undefined,
    };
  }

  async close(why: RefusalError): Promise<void> {
    await this.#end(why);
    // Otherwise the log is read when the topic is opened again.
    await this.#deduplication.save().catch(() => undefined);
    try {
      await this.#keeper.close();
    } finally {
      await this.#stored.close();
    }
  }

  #publish(producer: Producer, publication: Publication): Promise<Position | undefined> {
    if (this.#isTerminated) return Promise.reject(terminated(this.#name));
    return this.#publisher.publish(producer, publication);
  }

  #onReadable(isFirstOfLedger: boolean): void {
    this.subscriptions.wake();
    // Without subscriptions nothing else tells that there is something to remove.
    if (isFirstOfLedger) void this.#trim.run();
  }

  async #terminate(): Promise<Position | undefined> {
    this.#isTerminated = true;
    await this.#publisher.settled();
    try {
      await orRefusal(this.#stored.cursors.save(TERMINATED_NAME, TERMINATED_MARK));
    } catch (error) {
      this.#isTerminated = false;
      this.#terminating = undefined;
      throw error;
    }
    this.#producers.endAll(terminated(this.#name));
    this.subscriptions.terminate();
    return this.#stored.log.last;
  }

  #requirePublishable(): void {
    if (this.#ended !== undefined) throw this.#ended;
    if (this.#isTerminated) throw terminated(this.#name);
    // Consumers may have acknowledged enough since the last check.
    if (this.#block.reason === "backlog-quota") this.#quota.apply();
    const { reason, isHolding } = this.#block;
    if (reason === undefined || !isHolding) return;
    const isException = this.#quota.quota?.action === "producer_exception";
    throw reason === "backlog-quota" && isException ? quotaException() : blockedRefusal(reason);
  }

  #tellBlocked(reason: BlockReason | undefined): void {
    const { observe } = this.#surroundings;
    const topic = this.#name.full;
    if (reason === undefined) observe({ kind: "producers-unblocked", topic });
    else observe({ kind: "producers-blocked", topic, reason });
  }

  #onReset(subscription: string, reason: "damaged" | "ahead-of-log", cursor: Cursor): void {
    const { observe } = this.#surroundings;
    const topic = this.#name.full;
    observe({ kind: "cursor-reset", topic, subscription, reason, position: cursor.ackedBefore });
  }

  #saveTopicEpoch(epoch: bigint): Promise<void> {
    return orRefusal(this.#stored.cursors.save(TOPIC_EPOCH_NAME, encodeTopicEpoch(epoch)));
  }

  async #applyTtl(nowMs: number): Promise<void> {
    const { policies, settings } = this.#surroundings;
    const { messageTtlMs = settings.messageTtlMs } = policies.of(this.#name);
    if (messageTtlMs === 0 || this.#ended !== undefined) return;
    try {
      await this.subscriptions.expireAll(nowMs - messageTtlMs);
    } catch (error) {
      this.#onReadFailed(error);
    }
  }

  /** A policy could not be applied now; it is tried again at the next check. */
  #onReadFailed(error: unknown): void {
    if (this.#stored.log.failure !== undefined) this.#stop(error);
    else if (this.#ended === undefined) this.#surroundings.observe({ kind: "error", error });
  }

  /** The log can promise nothing any more. */
  #stop(error: unknown): void {
    if (this.#ended !== undefined) return;
    const topic = this.#name.full;
    const cause = error instanceof Error ? error : new Error(String(error));
    const why = new RefusalError("PersistenceError", `topic ${topic} has stopped`, { cause });
    this.#stopped = { why, atMs: this.#surroundings.timer.now() };
    this.#surroundings.observe({ kind: "topic-stopped", topic, error: cause });
    void this.#end(why);
  }

  async #end(why: RefusalError): Promise<void> {
    this.#ended ??= why;
    this.#producers.endAll(why);
    await this.subscriptions.end(why);
  }
}

function terminated({ full }: TopicName): RefusalError {
  return new RefusalError("TopicTerminatedError", `topic ${full} was terminated`);
}
