import { comparePositions } from "../storage/position.ts";
import type { Position } from "../storage/position.ts";
import { StorageError } from "../storage/storage-error.ts";
import type { TopicLog } from "../storage/log/topic-log.ts";
import type { RefusalError } from "../refusal/refusal-error.ts";
import type { Consumer } from "../subscription/consumer.ts";
import type { Ack, Delivery } from "../subscription/delivery.ts";
import type { ActiveChange, ReadRequest } from "../subscription/dispatcher.ts";
import type { Subscription, SubscriptionType } from "../subscription/subscription.ts";

/** After so many reads, others get a turn of the event loop. */
const READS_PER_TURN = 8;

/** What a consumer hears. */
export interface ConsumerListener {
  readonly deliver: (deliveries: readonly Delivery[]) => void;
  readonly onActiveChange: (isActive: boolean) => void;
  readonly onClosed: (why: RefusalError) => void;
}

export interface FeedOptions {
  readonly name: string;
  readonly isDurable: boolean;
  readonly nextTurn: () => Promise<void>;
  /** The cursor may have moved. */
  readonly onAcked: () => void;
  /** The log could not be read. */
  readonly onFailed: (error: unknown) => void;
}

/**
 * Runs one subscription: reads what it wants from the log and hands the entries to its consumers. At
 * most one read is open at a time. Entries are handed over in a turn of their own, never while
 * somebody calls.
 */
export class Feed {
  readonly name: string;
  readonly isDurable: boolean;
  readonly subscription: Subscription;
  readonly #log: TopicLog;
  readonly #options: FeedOptions;
  readonly #listeners = new Map<Consumer, ConsumerListener>();
  #isRunning = false;
  /** A wish that was not answered, because there are too many open files. */
  #unanswered: ReadRequest | undefined;

  constructor(log: TopicLog, subscription: Subscription, options: FeedOptions) {
    this.#log = log;
    this.subscription = subscription;
    this.#options = options;
    this.name = options.name;
    this.isDurable = options.isDurable;
  }

  get size(): number {
    return this.#listeners.size;
  }

  has(consumer: Consumer): boolean {
    return this.#listeners.has(consumer);
  }

  /** Throws a `RefusalError` if there is no room. */
  join(consumer: Consumer, type: SubscriptionType, listener: ConsumerListener): void {
    // The newcomer is not told: its handle says how it is.
    this.#tell(this.subscription.join(consumer, type));
    this.#listeners.set(consumer, listener);
  }

  leave(consumer: Consumer): void {
    if (!this.#listeners.delete(consumer)) return;
    this.#tell(this.subscription.leave(consumer));
    this.wake();
  }

  /** Closes all consumers and tells them why. */
  closeAll(why: RefusalError): void {
    const all = [...this.#listeners];
    this.#listeners.clear();
    for (const [consumer] of all) this.subscription.leave(consumer);
    for (const [, listener] of all) listener.onClosed(why);
  }

  acknowledge(acks: readonly Ack[]): void {
    this.subscription.acknowledge(acks);
    this.#onAcked();
  }

  acknowledgeUpTo(ack: Ack): void {
    this.subscription.acknowledgeUpTo(ack);
    this.#onAcked();
  }

  /** Something has changed: entries, permits, consumers. */
  wake(): void {
    if (this.#isRunning || this.#listeners.size === 0) return;
    this.#isRunning = true;
    this.#run().catch((error: unknown) => {
      this.#isRunning = false;
      // Whoever wakes it next lets it try again.
      if (error instanceof StorageError && error.mayHeal) return;
      this.#options.onFailed(error);
    });
  }

  async #run(): Promise<void> {
    // Whoever woke it may still be at work.
    await Promise.resolve();
    for (let reads = 1; ; reads++) {
      this.#deliver();
      const request = this.#unanswered ?? this.subscription.wanted();
      if (request === undefined) break;
      this.#unanswered = request;
      const hasEntry = this.#hasEntryFrom(request.from);
      const entries = hasEntry ? await this.#log.read(request.from, request.bounds) : [];
      this.#unanswered = undefined;
      this.subscription.onRead(request, entries);
      // Whatever else is wanted is even further on.
      if (!hasEntry) break;
      if (reads % READS_PER_TURN === 0) await this.#options.nextTurn();
    }
    this.#isRunning = false;
  }

  /** Until nothing more can be given: a consumer may ask for more while it is given something. */
  #deliver(): void {
    for (;;) {
      const dispatches = this.subscription.dispatch();
      if (dispatches.length === 0) return;
      // One that another's listener has just closed has no listener, and gets nothing.
      for (const { consumer, deliveries } of dispatches)
        this.#listeners.get(consumer)?.deliver(deliveries);
    }
  }

  #hasEntryFrom(position: Position): boolean {
    const { last } = this.#log;
    return last !== undefined && comparePositions(last, position) >= 0;
  }

  #tell(changes: readonly ActiveChange[]): void {
    for (const { consumer, isActive } of changes)
      this.#listeners.get(consumer)?.onActiveChange(isActive);
  }

  #onAcked(): void {
    this.#options.onAcked();
    this.wake();
  }
}
