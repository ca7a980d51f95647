import { RefusalError } from "../refusal/refusal-error.ts";
import type { NewEntry, StoredEntry } from "../storage/log/topic-log.ts";
import { RECORD_HEADER_BYTES } from "../storage/segment/record.ts";
import type { StoredTopic } from "../storage/store/broker-store.ts";
import { StorageError } from "../storage/storage-error.ts";
import type { Position } from "../storage/position.ts";
import { Cursor } from "../subscription/cursor.ts";
import { decodeCursor } from "../storage/cursor/cursor-codec.ts";
import type { ConsumerHandle, ConsumerRequest } from "./consumer-handle.ts";
import { CursorKeeper } from "./cursor-keeper.ts";
import { BacklogQuotaCheck } from "./backlog-quota.ts";
import { Deduplication } from "./deduplication.ts";
import { ProducerBlock, blockedRefusal, quotaException } from "./producer-block.ts";
import type { BlockReason } from "./producer-block.ts";
import type { ProducerHandle, ProducerRequest, Publication } from "./producer-handle.ts";
import type { Producer } from "./producer.ts";
import { orRefusal, refusalOf } from "./refusal.ts";
import {
  SEQUENCE_IDS_NAME,
  TERMINATED_MARK,
  TERMINATED_NAME,
  TOPIC_EPOCH_NAME,
  decodeTopicEpoch,
  encodeTopicEpoch,
} from "./topic-marks.ts";
import type { TopicName } from "../name/topic-name.ts";
import { TopicProducers } from "./topic-producers.ts";
import type { TopicStats } from "./topic-stats.ts";
import { TopicSubscriptions } from "./topic-subscriptions.ts";
import type { Stop, Topic, TopicSurroundings } from "./topic.ts";
import { Traffic, sumOf } from "./traffic.ts";

/** What is kept among the cursors and is none. */
const MARKS: ReadonlySet<string> = new Set([TOPIC_EPOCH_NAME, TERMINATED_NAME, SEQUENCE_IDS_NAME]);

/** What a topic was when it was stored. */
interface Former {
  readonly topicEpoch: bigint;
  readonly isTerminated: boolean;
  readonly deduplication: Deduplication;
}

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
  readonly #in: Traffic;
  readonly #openedAtMs: number;
  #publishedAtMs: number | undefined;
  #isTerminated: boolean;
  #terminating: Promise<Position | undefined> | undefined;
  #lastAppend: Promise<unknown> = Promise.resolve();
  #stopped: Stop | undefined;
  #ended: RefusalError | undefined;
  #isTrimDue = false;
  #trimming: Promise<void> | undefined;
  #newestLedgerId: number;

  private constructor(
    name: TopicName,
    stored: StoredTopic,
    { surroundings, former }: { surroundings: TopicSurroundings; former: Former },
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
      onLedgerConsumed: () => void this.#trim(),
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
    this.#in = new Traffic(this.#openedAtMs);
    this.#deduplication = former.deduplication;
    this.#isTerminated = former.isTerminated;
    if (former.isTerminated) this.subscriptions.terminate();
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
    const isTerminated = cursors.has(TERMINATED_NAME) || damaged.has(TERMINATED_NAME);
    const sequenceIds = damaged.has(SEQUENCE_IDS_NAME) ? "damaged" : cursors.get(SEQUENCE_IDS_NAME);
    for (const mark of MARKS) cursors.delete(mark);
    const deduplication = await Deduplication.open(sequenceIds, {
      log: stored.log,
      documents: stored.cursors,
      nextTurn: surroundings.nextTurn,
      isWanted: () => surroundings.policies.of(name).deduplication ?? false,
    });
    const former = { topicEpoch, isTerminated, deduplication };
    const topic = new PersistentTopic(name, stored, { surroundings, former });
    const { log } = stored;
    for (const [subscription, bytes] of cursors) {
      const cursor = new Cursor(log, decodeCursor(bytes));
      topic.subscriptions.restore(subscription, cursor);
      if (cursor.aheadAt !== undefined) topic.#onReset(subscription, "ahead-of-log", cursor);
    }
    // Where a damaged cursor was is unknown: all that is kept is delivered again, nothing is lost.
    for (const subscription of damaged.keys()) {
      if (MARKS.has(subscription)) continue;
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
    if (this.#deduplication.isOn) await this.#lastAppend.catch(() => undefined);
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
    this.#in.sample(nowMs);
    this.#producers.sample(nowMs);
    this.subscriptions.sample(nowMs);
    this.subscriptions.tidy();
    await this.#applyTtl(nowMs);
    await this.#trim();
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

  stats(): TopicStats {
    const failure = this.#ended?.cause ?? this.#ended ?? this.#keeper.failure;
    const subscriptions = this.subscriptions.stats();
    return {
      name: this.#name.full,
      producers: this.#producers.stats(),
      subscriptions,
      sizeBytes: this.#stored.log.sizeBytes,
      in: this.#in.stats,
      out: sumOf(subscriptions.map(({ out }) => out)),
      openedAtMs: this.#openedAtMs,
      publishedAtMs: this.#publishedAtMs,
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

  #publish(
    producer: Producer,
    { parts, messageCount }: Publication,
  ): Promise<Position | undefined> {
    const { wallClock } = this.#surroundings;
    const { log } = this.#stored;
    if (this.#isTerminated) return Promise.reject(terminated(this.#name));
    const publishedAtMs = Math.floor(wallClock.now());
    const entry: NewEntry = { parts, messageCount, publishedAtMs };
    if (!this.#block.isHolding && !log.hasRoomFor(entry)) this.#block.begin("storage-full");
    if (this.#block.isHolding)
      return Promise.reject(refuse(producer, this.#block.reason ?? "storage-full"));
    const sequence = this.#deduplication.sequenceOf(parts);
    if (sequence !== undefined && this.#deduplication.isRepeated(sequence))
      return this.#lastAppend.then(() => {
        if (!this.#deduplication.isStored(sequence)) throw refuse(producer, "storage-full");
        return undefined;
      });
    const isRetry = this.#block.reason !== undefined;
    const appended = log.append(entry).then(
      (position) => {
        this.#onStored(producer, entry);
        this.#deduplication.onStored(sequence, position);
        if (isRetry) this.#block.end("storage-full");
        else this.#block.retry();
        this.subscriptions.wake();
        // Without subscriptions nothing else tells that there is something to remove.
        if (position.ledgerId !== this.#newestLedgerId) {
          this.#newestLedgerId = position.ledgerId;
          void this.#trim();
        }
        return position;
      },
      (error: unknown) => {
        if (log.failure !== undefined) this.#stop(error);
        if (!(error instanceof StorageError) || !error.mayHeal) throw refusalOf(error);
        this.#block.begin("storage-full");
        throw refuse(producer, "storage-full", error);
      },
    );
    this.#lastAppend = appended;
    return appended;
  }

  #onStored(producer: Producer, { parts, messageCount, publishedAtMs }: NewEntry): void {
    let bytes = 0;
    for (const part of parts) bytes += part.length;
    this.#in.add(messageCount, bytes);
    producer.in.add(messageCount, bytes);
    this.#publishedAtMs = publishedAtMs;
    this.#quota.onPublished(bytes + RECORD_HEADER_BYTES);
  }

  async #terminate(): Promise<Position | undefined> {
    this.#isTerminated = true;
    await this.#lastAppend.catch(() => undefined);
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
    const { consumedBefore } = this.subscriptions;
    const { wallClock, settings, policies } = this.#surroundings;
    const { sizeBytes } = log;
    const { retention = settings.retention } = policies.of(this.#name);
    // If it fails for lack of room, removing entries is what helps.
    await this.#deduplication.save().catch(() => undefined);
    try {
      // Entries that nobody subscribed to may still be wanted; what subscriptions consumed is not.
      const isSubscribed = this.subscriptions.hasDurable;
      const drain = isSubscribed ? { drainAfterMs: 0 } : {};
      await log.trim({ nowMs: wallClock.now(), consumedBefore, ...retention, ...drain });
    } catch (error) {
      // What could not be removed now is tried again.
      if (log.failure !== undefined) this.#stop(error);
    }
    if (log.sizeBytes < sizeBytes) this.#block.retry();
  }

  async #applyTtl(nowMs: number): Promise<void> {
    const { messageTtlMs } = this.#surroundings.policies.of(this.#name);
    if (messageTtlMs === undefined || this.#ended !== undefined) return;
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

/** Blocks the producer, so that nothing it sent later is stored before the entry that was refused. */
function refuse(producer: Producer, reason: BlockReason, cause?: unknown): RefusalError {
  const why = blockedRefusal(reason, cause);
  producer.block(why);
  return why;
}

function terminated({ full }: TopicName): RefusalError {
  return new RefusalError("TopicTerminatedError", `topic ${full} was terminated`);
}
