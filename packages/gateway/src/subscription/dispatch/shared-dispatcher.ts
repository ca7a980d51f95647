import { comparePositions } from "../../storage/position.ts";
import type { Position } from "../../storage/position.ts";
import type { ReadBounds, StoredEntry } from "../../storage/log/topic-log.ts";
import type { Consumer } from "../consumer.ts";
import type { Cursor } from "../cursor/cursor.ts";
import { DelayedEntries } from "./delayed-entries.ts";
import type { DelayOptions } from "./delayed-entries.ts";
import { FetchedEntries } from "./fetched-entries.ts";
import { deliveryOf, messagesLeft } from "../delivery.ts";
import type { Delivery } from "../delivery.ts";
import type { ActiveChange, Dispatch, Dispatcher, ReadRequest } from "./dispatcher.ts";
import { Outstanding } from "./outstanding.ts";
import { ReadAhead } from "../read-ahead.ts";
import { Replay } from "./replay.ts";
import type { Returned } from "./replay.ts";
import { RoundRobin } from "./round-robin.ts";

export interface SharedOptions {
  readonly bounds: ReadBounds;
  /** Messages that all consumers together may have without acknowledging them. */
  readonly unackedMax: number;
  readonly delays: DelayOptions;
}

interface Fetched extends Returned {
  readonly entry: StoredEntry;
}

interface Fetching {
  readonly request: ReadRequest;
  readonly returned: readonly Returned[];
}

/**
 * Every entry goes to one consumer that has permits, in turn. What comes back is delivered before
 * anything new, lowest first.
 *
 * An entry whose delivery time has not come is passed over, and returned when it has.
 *
 * An entry beyond the acknowledged is at any time in one place only: with a consumer, delayed,
 * returned, being fetched again, fetched, read ahead, or not read yet.
 */
export class SharedDispatcher implements Dispatcher {
  readonly #cursor: Cursor;
  readonly #options: SharedOptions;
  readonly #isAcked = (position: Position): boolean => this.#cursor.isAcked(position);
  readonly #turns = new RoundRobin();
  readonly #outstanding = new Outstanding();
  readonly #replay = new Replay();
  readonly #delayed: DelayedEntries;
  readonly #ahead: ReadAhead;
  #fetching: Fetching | undefined;
  readonly #fetched = new FetchedEntries<Fetched>();

  constructor(cursor: Cursor, options: SharedOptions) {
    this.#cursor = cursor;
    this.#options = options;
    this.#delayed = new DelayedEntries(options.delays);
    this.#ahead = new ReadAhead(cursor.ackedBefore, options.bounds);
  }

  get consumers(): readonly Consumer[] {
    return this.#turns.consumers;
  }

  join(consumer: Consumer): readonly ActiveChange[] {
    this.#turns.add(consumer);
    return [];
  }

  leave(consumer: Consumer): readonly ActiveChange[] {
    this.#turns.remove(consumer);
    this.redeliver(consumer, undefined);
    if (this.consumers.length === 0) this.letGo();
    return [];
  }

  isActive(): boolean {
    return true;
  }

  redeliver(consumer: Consumer, positions: readonly Position[] | undefined): void {
    if (positions === undefined) this.#outstanding.returnAll(consumer);
    for (const position of positions ?? []) {
      // A client may name what it does not have, or the same entry twice.
      const held = this.#outstanding.get(position);
      if (held?.consumer !== consumer) continue;
      this.#outstanding.remove(position);
      this.#replay.add({ position, redeliveryCount: held.redeliveryCount + 1 });
    }
  }

  onAcked(position: Position): void {
    this.#outstanding.remove(position);
  }

  get isReturning(): boolean {
    return this.#outstanding.isReturning;
  }

  onSkipped(): void {
    this.#delayed.forget(this.#isAcked);
    this.#outstanding.returnAcked();
  }

  get delayedEntries(): number {
    return this.#delayed.length;
  }

  get nextDueMs(): number | undefined {
    return this.#delayed.nextDueMs;
  }

  get trackedEntries(): number {
    return this.#outstanding.length + this.#replay.length + this.#delayed.length;
  }

  get heldBytes(): number {
    return this.#fetched.bytes + this.#ahead.bytes;
  }

  letGo(): void {
    for (let next = this.#fetched.shift(); next !== undefined; next = this.#fetched.shift())
      this.#replay.add({ position: next.position, redeliveryCount: next.redeliveryCount });
    this.#ahead.putBack();
  }

  wanted(): ReadRequest | undefined {
    if (this.#takeBack()) return undefined;
    if (this.#fetching !== undefined || this.#fetched.length > 0 || this.#isFull) return undefined;
    const permits = this.#turns.permits();
    if (permits === 0) return undefined;
    this.#returnDue();
    if (this.#hasReturned()) return this.#fetch(permits);
    return this.#ahead.wanted(permits, this.#cursor.ackedBefore);
  }

  onRead(request: ReadRequest, entries: readonly StoredEntry[]): void {
    if (request === this.#fetching?.request) this.#onFetched(this.#fetching.returned, entries);
    else this.#ahead.onRead(request, entries);
    if (this.consumers.length === 0) this.letGo();
  }

  dispatch(): readonly Dispatch[] {
    if (this.#takeBack()) return [];
    const dispatches = new Map<Consumer, Dispatch>();
    this.#returnDue();
    while (this.#fetched.length + this.#ahead.length > 0 && !this.#isFull) {
      const consumer = this.#turns.next();
      const next = consumer === undefined ? undefined : this.#next();
      if (consumer === undefined || next === undefined) break;
      const dispatch = dispatches.get(consumer) ?? { consumer, deliveries: [] };
      dispatch.deliveries.push(this.#give(next, consumer));
      dispatches.set(consumer, dispatch);
    }
    return [...dispatches.values()];
  }

  /** Takes some entries back from consumers; answers whether there are more. */
  #takeBack(): boolean {
    if (!this.isReturning) return false;
    for (const { position, redeliveryCount } of this.#outstanding.takeReturned(this.#isAcked))
      this.#replay.add({ position, redeliveryCount: redeliveryCount + 1 });
    return this.isReturning;
  }

  #give({ entry, redeliveryCount }: Fetched, consumer: Consumer): Delivery {
    const { position } = entry;
    const ackSet = this.#cursor.ackSetOf(position);
    const messageCount = messagesLeft(entry.messageCount, ackSet);
    consumer.take(messageCount);
    this.#outstanding.add({ position, consumer, messageCount, redeliveryCount });
    return deliveryOf(entry, { redeliveryCount, ackSet });
  }

  /** What is to be delivered next and has been read. */
  #next(): Fetched | undefined {
    for (let next = this.#fetched.shift(); next !== undefined; next = this.#fetched.shift())
      if (!this.#cursor.isAcked(next.position)) return next;
    if (this.#fetching !== undefined || this.#hasReturned()) return undefined;
    for (let entry = this.#ahead.peek(); entry !== undefined; entry = this.#ahead.peek()) {
      const { position } = entry;
      if (!this.#cursor.isAcked(position)) {
        const deliverAtMs = this.#delayed.delayOf(entry);
        // At the bound nothing is read on: the entry stays first until there is room.
        if (deliverAtMs !== undefined && this.#delayed.isFull) return undefined;
        this.#ahead.shift();
        if (deliverAtMs === undefined) return { entry, position, redeliveryCount: 0 };
        this.#delayed.add({ position, deliverAtMs });
      } else this.#ahead.shift();
    }
    return undefined;
  }

  #returnDue(): void {
    for (const { position } of this.#delayed.takeDue())
      if (!this.#cursor.isAcked(position)) this.#replay.add({ position, redeliveryCount: 0 });
  }

  get #isFull(): boolean {
    return this.#outstanding.messages >= this.#options.unackedMax;
  }

  #hasReturned(): boolean {
    if (this.#replay.length > 0) this.#replay.skip(this.#isAcked);
    return this.#replay.length > 0;
  }

  #fetch(permits: number): ReadRequest | undefined {
    const { countMax, bytesMax } = this.#options.bounds;
    const returned = this.#replay.takeRun(Math.min(countMax, permits));
    const from = returned[0]?.position;
    if (from === undefined) return undefined;
    const request = { from, bounds: { countMax: returned.length, bytesMax } };
    this.#fetching = { request, returned };
    return request;
  }

  #onFetched(returned: readonly Returned[], entries: readonly StoredEntry[]): void {
    this.#fetching = undefined;
    const last = entries.at(-1)?.position;
    // Nothing is there or after it: the log no longer keeps these entries.
    if (last === undefined) return;
    const byEntryId = new Map(returned.map((each) => [each.position.entryId, each]));
    for (const entry of entries) {
      const { entryId } = entry.position;
      const match = byEntryId.get(entryId);
      if (match?.position.ledgerId !== entry.position.ledgerId) continue;
      this.#fetched.push({ ...match, entry });
    }
    for (const each of returned)
      if (comparePositions(each.position, last) > 0) this.#replay.add(each);
  }
}
