import type { ReadBounds, StoredEntry } from "../../storage/log/topic-log.ts";
import type { Consumer } from "../consumer.ts";
import type { Cursor } from "../cursor/cursor.ts";
import { deliveryOf, messagesLeft } from "../delivery.ts";
import type { Delivery } from "../delivery.ts";
import type { ActiveChange, Dispatch, Dispatcher, ReadRequest } from "./dispatcher.ts";
import { ReadAhead } from "../read-ahead.ts";

export interface SingleActiveOptions {
  readonly bounds: ReadBounds;
  /** Of a partitioned topic: its consumers share the partitions. */
  readonly partition: number | undefined;
}

/**
 * One consumer at a time gets all entries, in the order of the log. The next one begins again with
 * the first that is not acknowledged; so nothing has to be remembered about what was delivered, and
 * a consumer may have any number of entries without acknowledging.
 */
export class SingleActiveDispatcher implements Dispatcher {
  readonly #cursor: Cursor;
  readonly #partition: number | undefined;
  readonly #ahead: ReadAhead;
  #consumers: Consumer[] = [];
  #active: Consumer | undefined;

  constructor(cursor: Cursor, { bounds, partition }: SingleActiveOptions) {
    this.#cursor = cursor;
    this.#partition = partition;
    this.#ahead = new ReadAhead(cursor.ackedBefore, bounds);
  }

  get consumers(): readonly Consumer[] {
    return this.#consumers;
  }

  join(consumer: Consumer): readonly ActiveChange[] {
    this.#consumers.push(consumer);
    return this.#choose();
  }

  leave(consumer: Consumer): readonly ActiveChange[] {
    this.#consumers = this.#consumers.filter((other) => other !== consumer);
    return this.#choose().filter((change) => change.consumer !== consumer);
  }

  isActive(consumer: Consumer): boolean {
    return consumer === this.#active;
  }

  redeliver(consumer: Consumer): void {
    if (consumer === this.#active) this.#ahead.restart(this.#cursor.ackedBefore);
  }

  onAcked(): void {
    // What is acknowledged is left out when its turn comes.
  }

  onSkipped(): void {
    // Read-ahead entries before the cursor are left out when their turn comes.
  }

  /** What a consumer has is not remembered. */
  readonly isReturning = false;
  readonly trackedEntries = 0;

  /** Only shared subscriptions delay entries, as in Pulsar. */
  readonly delayedEntries = 0;
  readonly nextDueMs = undefined;

  get heldBytes(): number {
    return this.#ahead.bytes;
  }

  letGo(): void {
    this.#ahead.putBack();
  }

  wanted(): ReadRequest | undefined {
    const active = this.#active;
    if (active?.canTake !== true) return undefined;
    return this.#ahead.wanted(active.permits, this.#cursor.ackedBefore);
  }

  onRead(request: ReadRequest, entries: readonly StoredEntry[]): void {
    this.#ahead.onRead(request, entries);
  }

  dispatch(): readonly Dispatch[] {
    const consumer = this.#active;
    if (consumer === undefined) return [];
    const deliveries: Delivery[] = [];
    while (consumer.canTake) {
      const entry = this.#ahead.shift();
      if (entry === undefined) break;
      if (this.#cursor.isAcked(entry.position)) continue;
      const ackSet = this.#cursor.ackSetOf(entry.position);
      consumer.take(messagesLeft(entry.messageCount, ackSet));
      deliveries.push(deliveryOf(entry, { redeliveryCount: 0, ackSet }));
    }
    return deliveries.length === 0 ? [] : [{ consumer, deliveries }];
  }

  #choose(): readonly ActiveChange[] {
    const was = this.#active;
    const is = chosen(this.#consumers, this.#partition);
    if (is === was) return [];
    this.#active = is;
    this.#ahead.restart(this.#cursor.ackedBefore);
    const changes: ActiveChange[] = [];
    if (was !== undefined) changes.push({ consumer: was, isActive: false });
    if (is !== undefined) changes.push({ consumer: is, isActive: true });
    return changes;
  }
}

/**
 * Of those that come first by priority, who came first. The consumers of a partitioned topic join
 * all partitions, so there their names decide and each gets some, as in Pulsar.
 */
export function chosen(
  consumers: readonly Consumer[],
  partition: number | undefined,
): Consumer | undefined {
  const level = Math.min(...consumers.map((consumer) => consumer.priorityLevel));
  const first = consumers.filter((consumer) => consumer.priorityLevel === level);
  if (partition === undefined) return first[0];
  const byName = first.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return byName[partition % byName.length];
}
