import { RefusalError } from "../refusal/refusal-error.ts";
import type { ResolvedSettings } from "./settings.ts";
import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
import type { StoredEntry, TopicLog } from "../storage/log/topic-log.ts";
import { Turns } from "../storage/turns.ts";
import { Consumer } from "../subscription/consumer.ts";
import { Cursor } from "../subscription/cursor.ts";
import { Subscription } from "../subscription/subscription.ts";
import type { SubscriptionType } from "../subscription/subscription.ts";
import type { ConsumerHandle, ConsumerRequest, SeekPoint } from "./consumer-handle.ts";
import type { CursorKeeper } from "./cursor-keeper.ts";
import { Feed } from "./feed.ts";
import type { NameMaker } from "./name-maker.ts";
import { orRefusal } from "./refusal.ts";
import { startPosition } from "./start-position.ts";
import { Subscriber } from "./subscriber.ts";
import { requireName } from "./topic-name.ts";
import type { SubscriptionStats } from "./topic.ts";

export interface SubscriptionsOptions {
  readonly settings: ResolvedSettings;
  readonly names: NameMaker;
  readonly nextTurn: () => Promise<void>;
  readonly partition: number | undefined;
  /** A durable subscription has consumed the last entry of a ledger. */
  readonly onLedgerConsumed: () => void;
  /** The log could not be read. */
  readonly onFailed: (error: unknown) => void;
}

type Kind = Pick<ConsumerRequest, "isDurable"> & { readonly type: SubscriptionType };

/**
 * The subscriptions of a persistent topic. They are made, moved and removed one after the other, and
 * what is durable is stored before anybody hears that it is done.
 */
export class Subscriptions {
  readonly #log: TopicLog;
  readonly #keeper: CursorKeeper;
  readonly #options: SubscriptionsOptions;
  readonly #feeds = new Map<string, Feed>();
  readonly #turns = new Turns();
  #left: ReadonlySet<Feed> = new Set();
  #ended: RefusalError | undefined;

  constructor(log: TopicLog, keeper: CursorKeeper, options: SubscriptionsOptions) {
    this.#log = log;
    this.#keeper = keeper;
    this.#options = options;
  }

  get isUsed(): boolean {
    return [...this.#feeds.values()].some((feed) => feed.size > 0);
  }

  /** Before this, every durable subscription has acknowledged everything. */
  get consumedBefore(): Position {
    let least = this.#log.end;
    for (const { isDurable, subscription } of this.#feeds.values()) {
      const { ackedBefore } = subscription.cursor;
      if (isDurable && comparePositions(ackedBefore, least) < 0) least = ackedBefore;
    }
    return least;
  }

  /** Takes up a durable subscription where it was saved. */
  restore(name: string, cursor: Cursor): void {
    this.#add(name, cursor, { isDurable: true, type: "exclusive" });
  }

  subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    const { type } = request;
    if (type === "key-shared")
      return Promise.reject(
        new RefusalError("NotAllowedError", "Key_Shared subscriptions are not supported"),
      );
    return this.#inTurn(() => this.#subscribe(request, type));
  }

  /** Makes a durable subscription that begins at the end, unless it is there. */
  ensure(name: string): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#feeds.has(name)) return;
      const start = { kind: "latest" } as const;
      await this.#create({ subscription: name, start, isDurable: true }, "exclusive");
    });
  }

  seek(feed: Feed, to: SeekPoint): Promise<void> {
    return this.#inTurn(async () => {
      // To save the cursor of a subscription that was removed would bring it back.
      if (this.#feeds.get(feed.name) !== feed)
        throw new RefusalError("SubscriptionNotFound", "the subscription was removed");
      const position = await startPosition(this.#log, to);
      feed.closeAll(new RefusalError("ServiceNotReady", "the subscription was moved"));
      feed.subscription.seek(position);
      // One that is not durable stays although its consumers are gone: they will be back.
      if (feed.isDurable) await this.#keeper.save(feed.name, feed.subscription.cursor);
    });
  }

  unsubscribe(feed: Feed, consumer: Consumer): Promise<void> {
    return this.#inTurn(async () => {
      if (feed.size !== 1 || !feed.has(consumer))
        throw new RefusalError("MetadataError", "the subscription has other consumers");
      // Without consumers nobody can change the cursor while it is removed.
      feed.leave(consumer);
      if (feed.isDurable) await this.#keeper.remove(feed.name);
      this.#remove(feed);
    });
  }

  leave(feed: Feed, consumer: Consumer): void {
    feed.leave(consumer);
    if (!feed.isDurable && feed.size === 0) this.#remove(feed);
  }

  async lastEntry(): Promise<StoredEntry | undefined> {
    const { last } = this.#log;
    if (last === undefined) return undefined;
    const [entry] = await this.#log.read(last, { countMax: 1, bytesMax: 1 });
    return entry;
  }

  markDeletePosition(feed: Feed): Position | undefined {
    return this.#log.previous(feed.subscription.cursor.ackedBefore);
  }

  /** Entries were appended. */
  wake(): void {
    for (const feed of this.#feeds.values()) feed.wake();
  }

  /**
   * Removes what was left by a seek and what nobody has come back to since the last call, and lets
   * those read again who could not.
   */
  tidy(): void {
    this.wake();
    const left = [...this.#feeds.values()].filter((feed) => !feed.isDurable && feed.size === 0);
    for (const feed of left) if (this.#left.has(feed)) this.#remove(feed);
    this.#left = new Set(left);
  }

  stats(): readonly SubscriptionStats[] {
    return [...this.#feeds.values()].map((feed) => this.#statsOf(feed));
  }

  /** Closes all consumers, lets nobody else in, and resolves when what has begun is done. */
  async end(why: RefusalError): Promise<void> {
    this.#ended ??= why;
    for (const feed of this.#feeds.values()) feed.closeAll(why);
    await this.#turns.idle();
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run(() => {
      if (this.#ended !== undefined) throw this.#ended;
      return orRefusal(task());
    });
  }

  async #subscribe(request: ConsumerRequest, type: SubscriptionType): Promise<ConsumerHandle> {
    const feed = this.#feeds.get(request.subscription) ?? (await this.#create(request, type));
    if (feed.isDurable !== request.isDurable)
      throw new RefusalError("NotAllowedError", "the subscription is of another durability");
    // It may have ended while the subscription was being made.
    if (this.#ended !== undefined) throw this.#ended;
    const consumer = new Consumer({
      name: request.consumerName ?? this.#options.names.next(),
      priorityLevel: request.priorityLevel,
      unackedMax: this.#options.settings.limits.unackedPerConsumerMax,
    });
    feed.join(consumer, type, request);
    return new Subscriber(this, feed, consumer);
  }

  async #create(
    request: Pick<ConsumerRequest, "subscription" | "start" | "isDurable">,
    type: SubscriptionType,
  ): Promise<Feed> {
    const { subscription, isDurable, start } = request;
    requireName("NotAllowedError", "a subscription's name", subscription);
    if (this.#feeds.size >= this.#options.settings.limits.subscriptionsPerTopicMax)
      throw new RefusalError("NotAllowedError", "the topic has too many subscriptions");
    const cursor = Cursor.startingAt(this.#log, await startPosition(this.#log, start));
    if (isDurable) await this.#keeper.save(subscription, cursor);
    return this.#add(subscription, cursor, { isDurable, type });
  }

  #add(name: string, cursor: Cursor, { isDurable, type }: Kind): Feed {
    const { settings, nextTurn, partition, onFailed } = this.#options;
    const { limits } = settings;
    const subscription = new Subscription(cursor, type, {
      bounds: { countMax: limits.readEntriesMax, bytesMax: limits.readBytesMax },
      unackedMax: limits.unackedPerSubscriptionMax,
      consumersMax: limits.consumersPerSubscriptionMax,
      partition,
    });
    let { ledgerId } = cursor.ackedBefore;
    const onAcked = (): void => {
      if (!isDurable) return;
      this.#keeper.note(name, cursor);
      if (cursor.ackedBefore.ledgerId === ledgerId) return;
      ledgerId = cursor.ackedBefore.ledgerId;
      this.#options.onLedgerConsumed();
    };
    const options = { name, isDurable, nextTurn, onAcked, onFailed };
    const feed = new Feed(this.#log, subscription, options);
    this.#feeds.set(name, feed);
    return feed;
  }

  #remove(feed: Feed): void {
    if (this.#feeds.get(feed.name) === feed) this.#feeds.delete(feed.name);
  }

  #statsOf({ name, isDurable, subscription, size }: Feed): SubscriptionStats {
    const { cursor, type, consumers } = subscription;
    const kept = this.#log.entryCountBetween(cursor.ackedBefore, this.#log.end);
    return {
      name,
      type,
      isDurable,
      consumers: size,
      unackedMessages: consumers.reduce((messages, { unacked }) => messages + unacked, 0),
      backlogEntries: Math.max(0, kept - cursor.ackedBeyond),
    };
  }
}
