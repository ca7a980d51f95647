import { RefusalError } from "../../refusal/refusal-error.ts";
import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import type { StoredEntry, TopicLog } from "../../storage/log/topic-log.ts";
import { Turns } from "../../storage/turns.ts";
import { Consumer } from "../../subscription/consumer.ts";
import { Cursor } from "../../subscription/cursor/cursor.ts";
import type { SubscriptionType } from "../../subscription/subscription.ts";
import type { ConsumerHandle, ConsumerRequest, SeekPoint } from "../consumer/consumer-handle.ts";
import type { CursorKeeper } from "./cursor-keeper.ts";
import { makeSubscription } from "./make-subscription.ts";
import { newestWithin } from "./backlog.ts";
import { PersistentConsumer } from "../consumer/persistent-consumer.ts";
import type { PersistentSubscription } from "./persistent-subscription.ts";
import { orRefusal } from "../refusal.ts";
import { startPosition } from "../consumer/start-position.ts";
import { requireClientName } from "../../name/topic-name.ts";
import type { TopicName } from "../../name/topic-name.ts";
import type { Listing, Steps } from "../stats-steps.ts";
import type { SubscriptionStats } from "../topic-stats.ts";
import type { TopicSurroundings } from "../topic.ts";

export interface TopicSubscriptionsOptions {
  readonly topic: TopicName;
  readonly surroundings: TopicSurroundings;
  /** A durable subscription has consumed the last entry of a ledger. */
  readonly onLedgerConsumed: () => void;
  /** The log could not be read. */
  readonly onFailed: (error: unknown) => void;
}

type Kind = Pick<ConsumerRequest, "isDurable"> & { readonly type: SubscriptionType };

/**
 * The subscriptions of a persistent topic. They are made, moved and removed one after the other, and
 * what is durable is stored before the caller hears that it is done.
 */
export class TopicSubscriptions {
  readonly #log: TopicLog;
  readonly #keeper: CursorKeeper;
  readonly #options: TopicSubscriptionsOptions;
  readonly #byName = new Map<string, PersistentSubscription>();
  readonly #turns = new Turns();
  #left: ReadonlySet<PersistentSubscription> = new Set();
  #isTerminated = false;
  #isCounted = true;
  #ended: RefusalError | undefined;

  constructor(log: TopicLog, keeper: CursorKeeper, options: TopicSubscriptionsOptions) {
    this.#log = log;
    this.#keeper = keeper;
    this.#options = options;
  }

  /** Whether any has a consumer. */
  get isUsed(): boolean {
    for (const subscription of this.#byName.values()) if (subscription.size > 0) return true;
    return false;
  }

  /** Before this, every durable subscription has acknowledged everything. */
  get consumedBefore(): Position {
    let least = this.#log.end;
    for (const { isDurable, state } of this.#byName.values()) {
      const { ackedBefore } = state.cursor;
      if (isDurable && comparePositions(ackedBefore, least) < 0) least = ackedBefore;
    }
    return least;
  }

  get hasDurable(): boolean {
    return [...this.#byName.values()].some(({ isDurable }) => isDurable);
  }

  get names(): readonly string[] {
    return [...this.#byName.keys()];
  }

  get durableNames(): readonly string[] {
    return this.names.filter((name) => this.#byName.get(name)?.isDurable);
  }

  /** Takes up a durable subscription where it was saved. */
  restore(name: string, cursor: Cursor): void {
    this.#add(name, cursor, { isDurable: true, type: "exclusive" });
  }

  subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    return this.#inTurn(() => this.#subscribe(request));
  }

  /** Makes a durable subscription that begins at the end, unless it is there. */
  ensure(name: string): Promise<void> {
    return this.#inTurn(async () => {
      if (!this.#byName.has(name)) await this.#createDurable(name, { kind: "latest" });
    });
  }

  create(name: string, start: SeekPoint): Promise<void> {
    return this.#inTurn(async () => {
      if (this.#byName.has(name))
        throw new RefusalError("NotAllowedError", `subscription ${name} exists already`);
      await this.#createDurable(name, start);
    });
  }

  delete(name: string, { force = false }: { readonly force?: boolean }): Promise<void> {
    return this.#inTurn(async () => {
      const subscription = this.#get(name);
      if (subscription.size > 0 && !force)
        throw new RefusalError("ConsumerBusy", `subscription ${name} has consumers`);
      subscription.closeAll(
        new RefusalError("SubscriptionNotFound", "the subscription was deleted"),
      );
      await this.#removeStored(subscription);
    });
  }

  skip(name: string, entries: number | "all"): Promise<void> {
    return this.#inTurn(async () => {
      const subscription = this.#get(name);
      if (entries === "all") subscription.skipTo(this.#log.end);
      else await subscription.skip(entries);
      await this.#save(subscription);
    });
  }

  /** Entries that were published before an instant count as acknowledged. */
  expire(name: string, beforeMs: number): Promise<void> {
    return this.#inTurn(async () => {
      const subscription = this.#get(name);
      subscription.skipTo(await this.#log.positionAtTime(beforeMs));
      await this.#save(subscription);
    });
  }

  /** The same for all durable subscriptions. */
  expireAll(beforeMs: number): Promise<void> {
    return this.#inTurn(async () => {
      if (comparePositions(this.consumedBefore, this.#log.end) >= 0) return;
      const position = await this.#log.positionAtTime(beforeMs);
      for (const subscription of this.#byName.values())
        if (subscription.isDurable) subscription.skipTo(position);
    });
  }

  /** Skips the oldest entries of every durable subscription whose backlog has more bytes. */
  evictTo(bytesMax: number): void {
    if (this.#log.sizeBytesFrom(this.consumedBefore) <= bytesMax) return;
    const position = newestWithin(this.#log, bytesMax);
    for (const subscription of this.#byName.values())
      if (subscription.isDurable) subscription.skipTo(position);
  }

  reset(name: string, to: SeekPoint): Promise<void> {
    return this.#inTurn(() => this.#seek(this.#get(name), to));
  }

  seek(subscription: PersistentSubscription, to: SeekPoint): Promise<void> {
    return this.#inTurn(async () => {
      // To save the cursor of a subscription that was removed would bring it back.
      if (this.#byName.get(subscription.name) !== subscription)
        throw new RefusalError("SubscriptionNotFound", "the subscription was removed");
      await this.#seek(subscription, to);
    });
  }

  unsubscribe(subscription: PersistentSubscription, consumer: Consumer): Promise<void> {
    return this.#inTurn(async () => {
      if (subscription.size !== 1 || !subscription.has(consumer))
        throw new RefusalError("MetadataError", "the subscription has other consumers");
      // Without consumers the cursor cannot change while it is removed.
      subscription.leave(consumer);
      await this.#removeStored(subscription);
    });
  }

  leave(subscription: PersistentSubscription, consumer: Consumer): void {
    subscription.leave(consumer);
    if (!subscription.isDurable && subscription.size === 0) this.#remove(subscription);
  }

  async lastEntry(): Promise<StoredEntry | undefined> {
    const { last } = this.#log;
    return last === undefined ? undefined : this.entryAt(last);
  }

  async entryAt(position: Position): Promise<StoredEntry | undefined> {
    const [entry] = await this.#log.read(position, { countMax: 1, bytesMax: 1 });
    return entry !== undefined && comparePositions(entry.position, position) === 0
      ? entry
      : undefined;
  }

  /** An entry of a subscription's backlog; the first has place 1. */
  async peek(name: string, place: number): Promise<StoredEntry | undefined> {
    const position = await this.#get(name).placeInBacklog(place);
    return position === undefined ? undefined : this.entryAt(position);
  }

  markDeletePosition({ state }: PersistentSubscription): Position | undefined {
    return this.#log.previous(state.cursor.ackedBefore);
  }

  /** Entries were appended. */
  wake(): void {
    for (const subscription of this.#byName.values()) subscription.wake();
  }

  /** Nothing will be appended any more. */
  terminate(): void {
    this.#isTerminated = true;
    for (const subscription of this.#byName.values()) subscription.terminate();
  }

  /**
   * Removes non-durable subscriptions that were left by a seek and that no consumer has come back to
   * since the last call. Lets subscriptions read again that could not for want of descriptors.
   */
  tidy(): void {
    this.wake();
    const left = [...this.#byName.values()].filter(
      ({ isDurable, size }) => !isDurable && size === 0,
    );
    for (const subscription of left) if (this.#left.has(subscription)) this.#remove(subscription);
    this.#left = new Set(left);
  }

  sample(nowMs: number): void {
    for (const subscription of this.#byName.values()) subscription.sample(nowMs);
  }

  *stats(listing: Listing): Steps<readonly SubscriptionStats[]> {
    const stats: SubscriptionStats[] = [];
    for (const subscription of this.#byName.values()) {
      stats.push(subscription.stats(listing));
      yield* listing.passed(subscription.size);
    }
    return stats;
  }

  /** Closes all consumers, refuses new ones, and resolves when what has begun is done. */
  async end(why: RefusalError): Promise<void> {
    this.#ended ??= why;
    for (const subscription of this.#byName.values()) subscription.closeAll(why);
    await this.#turns.idle();
    if (this.#isCounted) this.#options.surroundings.subscriptions.count -= this.#byName.size;
    for (const subscription of this.#byName.values()) subscription.dispose();
    this.#isCounted = false;
  }

  #inTurn<T>(task: () => Promise<T>): Promise<T> {
    return this.#turns.run(() => {
      if (this.#ended !== undefined) throw this.#ended;
      return orRefusal(task());
    });
  }

  async #subscribe(request: ConsumerRequest): Promise<ConsumerHandle> {
    const { type, consumerName } = request;
    if (consumerName !== undefined)
      requireClientName("NotAllowedError", "a consumer's name", consumerName);
    const subscription =
      this.#byName.get(request.subscription) ?? (await this.#create(request, type));
    if (subscription.isDurable !== request.isDurable)
      throw new RefusalError("NotAllowedError", "the subscription is of another durability");
    // The topic may have ended while the subscription was being made.
    if (this.#ended !== undefined) throw this.#ended;
    const { names, settings } = this.#options.surroundings;
    const consumer = new Consumer({
      name: request.consumerName ?? names.next(),
      priorityLevel: request.priorityLevel,
      unackedMax: settings.limits.unackedPerConsumerMax,
      keyRanges: request.keyRanges,
    });
    subscription.join(consumer, type, request);
    return new PersistentConsumer(this, subscription, consumer);
  }

  async #createDurable(name: string, start: SeekPoint): Promise<void> {
    await this.#create({ subscription: name, start, isDurable: true }, "exclusive");
  }

  async #create(
    request: Pick<ConsumerRequest, "subscription" | "start" | "isDurable">,
    type: SubscriptionType,
  ): Promise<PersistentSubscription> {
    const { subscription, isDurable, start } = request;
    const { limits } = this.#options.surroundings.settings;
    requireClientName("NotAllowedError", "a subscription's name", subscription);
    if (this.#byName.size >= limits.subscriptionsPerTopicMax)
      throw new RefusalError("NotAllowedError", "the topic has too many subscriptions");
    if (this.#options.surroundings.subscriptions.count >= limits.subscriptionsMax)
      throw new RefusalError(
        "NotAllowedError",
        `there are ${limits.subscriptionsMax} subscriptions already`,
      );
    const cursor = Cursor.startingAt(this.#log, await startPosition(this.#log, start));
    if (isDurable) await this.#keeper.save(subscription, cursor);
    return this.#add(subscription, cursor, { isDurable, type });
  }

  #add(name: string, cursor: Cursor, kind: Kind): PersistentSubscription {
    const { topic, surroundings, onFailed, onLedgerConsumed } = this.#options;
    const subscription = makeSubscription(this.#log, cursor, {
      ...kind,
      name,
      topic,
      surroundings,
      onFailed,
      onLedgerConsumed,
      onMoved: () => this.#keeper.note(name, cursor),
    });
    if (this.#isTerminated) subscription.terminate();
    this.#byName.set(name, subscription);
    surroundings.subscriptions.count++;
    return subscription;
  }

  async #seek(subscription: PersistentSubscription, to: SeekPoint): Promise<void> {
    const position = await startPosition(this.#log, to);
    subscription.closeAll(new RefusalError("ServiceNotReady", "the subscription was moved"));
    subscription.seek(position);
    // A non-durable subscription stays although its consumers are gone: they will be back.
    await this.#save(subscription);
  }

  async #save({ name, isDurable, state }: PersistentSubscription): Promise<void> {
    if (isDurable) await this.#keeper.save(name, state.cursor);
  }

  async #removeStored(subscription: PersistentSubscription): Promise<void> {
    if (subscription.isDurable) await this.#keeper.remove(subscription.name);
    this.#remove(subscription);
  }

  #remove(subscription: PersistentSubscription): void {
    if (this.#byName.get(subscription.name) !== subscription) return;
    this.#byName.delete(subscription.name);
    subscription.dispose();
    this.#options.surroundings.subscriptions.count--;
  }

  #get(name: string): PersistentSubscription {
    const subscription = this.#byName.get(name);
    if (subscription !== undefined) return subscription;
    throw new RefusalError("SubscriptionNotFound", `there is no subscription ${name}`);
  }
}
