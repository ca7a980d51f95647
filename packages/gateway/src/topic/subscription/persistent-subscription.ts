import type { Timer } from "@sluice/core";
import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import { StorageError } from "../../storage/storage-error.ts";
import type { ReadBounds, StoredEntry, TopicLog } from "../../storage/log/topic-log.ts";
import type { RefusalError } from "../../refusal/refusal-error.ts";
import type { Consumer } from "../../subscription/consumer.ts";
import type { Ack } from "../../subscription/delivery.ts";
import type { ActiveChange, ReadRequest } from "../../subscription/dispatch/dispatcher.ts";
import type { Subscription, SubscriptionType } from "../../subscription/subscription.ts";
import { backlogOf } from "./backlog.ts";
import type { DeliveryTurns } from "./delivery-turns.ts";
import { DueAlarm } from "./due-alarm.ts";
import { SubscriptionCharge } from "./subscription-charge.ts";
import { ConnectedConsumer } from "../consumer/connected-consumer.ts";
import type { ConsumerListener } from "../consumer/connected-consumer.ts";
import type { IdleReadAhead, ReadAheadMemory } from "./read-ahead-memory.ts";
import type { Listing } from "../stats-steps.ts";
import type { ConsumerStats, SubscriptionStats } from "../topic-stats.ts";
import { Traffic } from "../traffic.ts";

/** Reads after which the other work of the process gets a turn of the event loop. */
const READS_PER_TURN = 8;

/** Entries after which it does too: to deliver one takes some 5 µs. */
const ENTRIES_PER_TURN = 250;

/** Entries that a subscription may have out while memory is exhausted: consumers go on, slowly. */
const TRACKED_MIN = 16;

const SINGLE_ENTRY: ReadBounds = { countMax: 1, bytesMax: 1 };

export interface PersistentSubscriptionOptions {
  readonly name: string;
  readonly isDurable: boolean;
  readonly nextTurn: () => Promise<void>;
  readonly deliveryTurns: DeliveryTurns;
  readonly wallNow: () => number;
  readonly timer: Timer;
  readonly memory: ReadAheadMemory;
  /** The cursor may have moved. */
  readonly onAcked: () => void;
  /** A consumer has reached its limit of unacknowledged messages. */
  readonly onConsumerBlocked: (consumer: Consumer) => void;
  /** The log could not be read. */
  readonly onFailed: (error: unknown) => void;
}

/**
 * One subscription of a persistent topic: reads what its dispatcher asks for from the log and hands
 * the entries to the consumers. At most one read is open at a time. Entries are delivered in a turn
 * of their own, never during a call of a consumer.
 */
export class PersistentSubscription implements IdleReadAhead {
  readonly name: string;
  readonly isDurable: boolean;
  readonly state: Subscription;
  readonly out: Traffic;
  readonly #log: TopicLog;
  readonly #options: PersistentSubscriptionOptions;
  readonly #connected = new Map<Consumer, ConnectedConsumer>();
  readonly #charged: SubscriptionCharge;
  readonly #alarm: DueAlarm;
  #isRunning = false;
  #isTerminated = false;
  /** A request that was not answered, because the process has too many open files. */
  #unanswered: ReadRequest | undefined;

  constructor(log: TopicLog, state: Subscription, options: PersistentSubscriptionOptions) {
    this.#log = log;
    this.state = state;
    this.#options = options;
    this.name = options.name;
    this.isDurable = options.isDurable;
    this.out = new Traffic(options.wallNow());
    this.#charged = new SubscriptionCharge(options.memory, this);
    this.#alarm = new DueAlarm(options.timer, options.wallNow, () => this.wake());
  }

  /** Consumers. */
  get size(): number {
    return this.#connected.size;
  }

  has(consumer: Consumer): boolean {
    return this.#connected.has(consumer);
  }

  /** Throws a `RefusalError` if there is no room. */
  join(consumer: Consumer, type: SubscriptionType, listener: ConsumerListener): void {
    if (type === "exclusive")
      for (const { listener: other } of this.#connected.values()) other.onContested?.();
    // The new consumer is not told whether it is active: its handle says so.
    this.#tell(this.state.join(consumer, type));
    const connected = new ConnectedConsumer(consumer, listener, {
      nowMs: this.#options.wallNow(),
      all: this.out,
    });
    this.#connected.set(consumer, connected);
    // A terminated topic may have nothing left for it.
    if (this.#isTerminated) this.wake();
  }

  leave(consumer: Consumer): void {
    if (!this.#connected.delete(consumer)) return;
    this.#tell(this.state.leave(consumer));
    if (this.size === 0) this.#alarm.set(undefined);
    this.#charge();
    if (this.size === 0) this.#charged.setIdle(this.#charged.isHolding);
    this.wake();
  }

  /** Closes all consumers and tells them why. */
  closeAll(why: RefusalError): void {
    const all = [...this.#connected.values()];
    this.#connected.clear();
    this.#alarm.set(undefined);
    this.state.leaveAll();
    this.#charge();
    for (const { listener } of all) listener.onClosed(why);
  }

  /** It is no more: what it is charged with is released. */
  dispose(): void {
    this.state.leaveAll();
    this.#charge();
    this.#charged.release();
  }

  acknowledge(acks: readonly Ack[]): void {
    this.state.cursor.hasRoom = this.#options.memory.hasRoomForRanges;
    this.state.acknowledge(acks);
    this.#onAcked();
  }

  acknowledgeUpTo(ack: Ack): void {
    this.state.acknowledgeUpTo(ack);
    this.#onAcked();
  }

  /** Moves the cursor. Its consumers must have left. */
  seek(position: Position): void {
    this.state.seek(position);
    this.#charge();
  }

  /** Takes everything before a position for acknowledged, whatever the type of the subscription. */
  skipTo(position: Position): void {
    if (comparePositions(position, this.state.cursor.ackedBefore) <= 0) return;
    this.state.skipTo(position);
    this.#onAcked();
  }

  /** Takes the first entries of the backlog for acknowledged. */
  async skip(entries: number): Promise<void> {
    let left = entries;
    for await (const positions of this.#backlog()) {
      const skipped = positions.slice(0, left);
      this.acknowledge(skipped.map((position) => ({ position })));
      left -= skipped.length;
      if (left <= 0) return;
    }
  }

  /** The position of an entry of the backlog; the first has place 1. */
  async placeInBacklog(place: number): Promise<Position | undefined> {
    let before = 0;
    for await (const positions of this.#backlog()) {
      const found = positions[place - 1 - before];
      if (found !== undefined) return found;
      before += positions.length;
    }
    return undefined;
  }

  /** Without consumers it also forgets what was delivered how often. */
  letGo(): void {
    if (this.size === 0) this.state.leaveAll();
    else this.state.letGo();
    this.#charge();
    this.#charged.setIdle(false);
  }

  /** Nothing will be appended: consumers are told once everything is acknowledged. */
  terminate(): void {
    this.#isTerminated = true;
    this.wake();
  }

  /** Something has changed: entries, permits, consumers. */
  wake(): void {
    if (this.#isRunning || this.#connected.size === 0) return;
    this.#isRunning = true;
    this.#charged.setIdle(false);
    this.#run().catch((error: unknown) => {
      this.#onRan();
      // The next call of `wake` reads again.
      if (error instanceof StorageError && error.mayHeal) return;
      this.#options.onFailed(error);
    });
  }

  sample(nowMs: number): void {
    this.out.sample(nowMs);
    for (const { out } of this.#connected.values()) out.sample(nowMs);
  }

  consumerStats(consumer: Consumer): ConsumerStats | undefined {
    return this.#connected.get(consumer)?.stats(this.state.isActive(consumer));
  }

  /** Entries that are not acknowledged. */
  get backlogEntries(): number {
    const { cursor } = this.state;
    const kept = this.#log.entryCountBetween(cursor.ackedBefore, this.#log.end);
    return Math.max(0, kept - cursor.ackedBeyond);
  }

  stats(listing: Listing): SubscriptionStats {
    const { cursor, type, consumers, delayedEntries } = this.state;
    const { backlogEntries } = this;
    const listed = consumers.slice(0, listing.take(consumers.length));
    const active = consumers.find((consumer) => this.state.isActive(consumer));
    return {
      name: this.name,
      type,
      isDurable: this.isDurable,
      consumers: listed.flatMap((consumer) => this.consumerStats(consumer) ?? []),
      consumerCount: consumers.length,
      isBlocked: consumers.some(({ unacked, unackedMax }) => unacked >= unackedMax),
      unackedMessages: consumers.reduce((messages, { unacked }) => messages + unacked, 0),
      backlogEntries,
      backlogBytes: backlogEntries === 0 ? 0 : this.#log.sizeBytesFrom(cursor.ackedBefore),
      delayedEntries,
      activeConsumer: type.endsWith("shared") ? undefined : active?.name,
      out: this.out.stats,
    };
  }

  #backlog(): AsyncGenerator<readonly Position[]> {
    return backlogOf(this.#log, this.state.cursor, this.#options.nextTurn);
  }

  async #run(): Promise<void> {
    const { deliveryTurns, nextTurn } = this.#options;
    // The caller of `wake` may still be at work.
    await Promise.resolve();
    // Not awaited if there is time: all that were woken together would find time, and work after that.
    const turn = deliveryTurns.wait();
    if (turn !== undefined) await turn;
    let entriesLeft = ENTRIES_PER_TURN;
    for (let reads = 1; ; reads++) {
      this.#deliver();
      while (this.state.isReturning) {
        await nextTurn();
        const stepTurn = deliveryTurns.wait();
        if (stepTurn !== undefined) await stepTurn;
        this.#deliver();
      }
      this.#charge();
      // The next acknowledgement, or the consumer's end, wakes it.
      if (this.state.trackedEntries > TRACKED_MIN && !this.#options.memory.hasRoom()) break;
      const request = this.#unanswered ?? this.state.wanted();
      if (request === undefined) break;
      this.#unanswered = request;
      const hasEntry = this.#hasEntryFrom(request.from);
      const entries = hasEntry ? await this.#read(request) : [];
      this.#unanswered = undefined;
      this.state.onRead(request, entries);
      this.#charge();
      // Everything else that is wanted is even further on.
      if (!hasEntry) break;
      entriesLeft -= entries.length;
      if (reads % READS_PER_TURN !== 0 && entriesLeft > 0) continue;
      entriesLeft = ENTRIES_PER_TURN;
      await nextTurn();
      const readTurn = deliveryTurns.wait();
      if (readTurn !== undefined) await readTurn;
    }
    this.#onRan();
    if (this.size > 0) this.#alarm.set(this.state.nextDueMs);
    if (this.#isTerminated) this.#tellEnd();
  }

  #read({ from, bounds }: ReadRequest): Promise<readonly StoredEntry[]> {
    return this.#log.read(from, this.#options.memory.hasRoom() ? bounds : SINGLE_ENTRY);
  }

  /** Entries that are held now can be taken by nobody. */
  #onRan(): void {
    this.#isRunning = false;
    this.#charge();
    this.#charged.setIdle(this.#charged.hasBytes);
  }

  #charge(): void {
    this.#charged.update(this.state, this.size > 0);
  }

  /** Until nothing more can be given: a consumer may ask for more while it is given something. */
  #deliver(): void {
    for (;;) {
      const dispatches = this.state.dispatch();
      if (dispatches.length === 0) return;
      for (const { consumer, deliveries } of dispatches) {
        // A consumer that another's listener has just closed gets nothing.
        const connected = this.#connected.get(consumer);
        if (connected === undefined) continue;
        connected.deliver(deliveries);
        if (connected.hasJustBlocked()) this.#options.onConsumerBlocked(consumer);
      }
    }
  }

  /** As in Pulsar after the last acknowledgement: what is delivered may still be delivered again. */
  #tellEnd(): void {
    if (this.backlogEntries > 0) return;
    for (const connected of this.#connected.values()) connected.reachEnd();
  }

  #hasEntryFrom(position: Position): boolean {
    const { last } = this.#log;
    return last !== undefined && comparePositions(last, position) >= 0;
  }

  #tell(changes: readonly ActiveChange[]): void {
    for (const { consumer, isActive } of changes)
      this.#connected.get(consumer)?.listener.onActiveChange(isActive);
  }

  #onAcked(): void {
    this.#charge();
    this.#options.onAcked();
    this.wake();
  }
}
