import { comparePositions } from "../../../storage/position.ts";
import type { Position } from "../../../storage/position.ts";
import type { StoredEntry } from "../../../storage/log/topic-log.ts";
import type { Consumer } from "../../consumer.ts";
import type { Cursor } from "../../cursor/cursor.ts";
import { DelayedEntries } from "../delayed-entries.ts";
import { FetchedEntries } from "../fetched-entries.ts";
import { deliveryOf, messagesLeft } from "../../delivery.ts";
import type { Delivery } from "../../delivery.ts";
import type { ActiveChange, Dispatch, Dispatcher, ReadRequest } from "../dispatcher.ts";
import { KeyAssignment } from "./key-assignment.ts";
import { KeyHolders } from "./key-holders.ts";
import { Outstanding } from "../outstanding.ts";
import type { Held } from "../outstanding.ts";
import { ReadAhead } from "../../read-ahead.ts";
import type { SharedOptions } from "../shared-dispatcher.ts";
import { WaitingKeys } from "./waiting-keys.ts";
import type { WaitingEntry } from "./waiting-keys.ts";

export interface KeySharedOptions extends SharedOptions {
  readonly keys: KeyHashes;
}

export interface KeyHashes {
  /** Of an entry's key, from 0 to 65,535. */
  readonly hashOfEntry: (bytes: Uint8Array) => number;
  readonly hashOfText: (text: string) => number;
}

interface Fetched extends WaitingEntry {
  readonly entry: StoredEntry;
}

interface Fetching {
  readonly request: ReadRequest;
  readonly taken: readonly WaitingEntry[];
}

/**
 * Key_Shared: the entries of one key go to one consumer, in order. When a key moves to another
 * consumer, its entries wait until the former consumer has acknowledged those it has. An entry whose
 * consumer cannot take it is passed over, and so are later ones of its key; entries of other keys go
 * on until 500 are passed over.
 */
export class KeySharedDispatcher implements Dispatcher {
  readonly #cursor: Cursor;
  readonly #options: KeySharedOptions;
  readonly #isAcked = (position: Position): boolean => this.#cursor.isAcked(position);
  readonly #assignment: KeyAssignment;
  readonly #outstanding = new Outstanding();
  readonly #holders = new KeyHolders();
  readonly #waiting = new WaitingKeys();
  readonly #delayed: DelayedEntries;
  readonly #ahead: ReadAhead;
  readonly #fetched = new FetchedEntries<Fetched>();
  #fetching: Fetching | undefined;
  /** Hashes of entries that came back since the last fetch began: they go before what it brings. */
  readonly #returnedSinceFetch = new Set<number>();

  constructor(cursor: Cursor, options: KeySharedOptions) {
    this.#cursor = cursor;
    this.#options = options;
    this.#assignment = new KeyAssignment(options.keys.hashOfText);
    this.#delayed = new DelayedEntries(options.delays);
    this.#ahead = new ReadAhead(cursor.ackedBefore, options.bounds);
  }

  get consumers(): readonly Consumer[] {
    return this.#assignment.consumers;
  }

  get delayedEntries(): number {
    return this.#delayed.length;
  }

  get nextDueMs(): number | undefined {
    return this.#delayed.nextDueMs;
  }

  get trackedEntries(): number {
    return this.#outstanding.length + this.#waiting.length + this.#delayed.length;
  }

  get heldBytes(): number {
    return this.#fetched.bytes + this.#ahead.bytes;
  }

  join(consumer: Consumer): readonly ActiveChange[] {
    this.#assignment.add(consumer);
    return [];
  }

  leave(consumer: Consumer): readonly ActiveChange[] {
    this.#assignment.remove(consumer);
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
      const held = this.#outstanding.get(position);
      if (held?.consumer !== consumer) continue;
      this.#outstanding.remove(position);
      this.#onReturned(held);
    }
  }

  onAcked(position: Position): void {
    const held = this.#outstanding.remove(position);
    if (held !== undefined) this.#holders.remove(held.keyHash ?? 0);
  }

  get isReturning(): boolean {
    return this.#outstanding.isReturning;
  }

  onSkipped(): void {
    this.#outstanding.returnAcked();
    this.#delayed.forget(this.#isAcked);
  }

  letGo(): void {
    for (let next = this.#fetched.shift(); next !== undefined; next = this.#fetched.shift())
      this.#putBack(next);
    this.#ahead.putBack();
  }

  wanted(): ReadRequest | undefined {
    if (this.#takeBack()) return undefined;
    if (this.#fetching !== undefined || this.#fetched.length > 0 || this.#isFull) return undefined;
    let permits = 0;
    for (const consumer of this.consumers) if (consumer.canTake) permits += consumer.permits;
    if (permits === 0) return undefined;
    this.#returnDue();
    if (this.#waiting.length > 0) {
      const request = this.#fetch(permits);
      if (request !== undefined) return request;
      if (this.#waiting.isFull) return undefined;
    }
    return this.#ahead.wanted(permits, this.#cursor.ackedBefore);
  }

  onRead(request: ReadRequest, entries: readonly StoredEntry[]): void {
    if (request === this.#fetching?.request) this.#onFetched(this.#fetching.taken, entries);
    else this.#ahead.onRead(request, entries);
    if (this.consumers.length === 0) this.letGo();
  }

  dispatch(): readonly Dispatch[] {
    if (this.#takeBack()) return [];
    const dispatches = new Map<Consumer, Dispatch>();
    this.#returnDue();
    this.#giveFetched(dispatches);
    if (this.#fetching === undefined) this.#giveAhead(dispatches);
    return [...dispatches.values()];
  }

  #giveFetched(dispatches: Map<Consumer, Dispatch>): void {
    if (this.#fetched.length === 0) return;
    const passedOver = new Set(this.#returnedSinceFetch);
    for (let next = this.#fetched.shift(); next !== undefined; next = this.#fetched.shift()) {
      const consumer = passedOver.has(next.keyHash) ? undefined : this.#takerOf(next.keyHash);
      if (this.#cursor.isAcked(next.position)) {
        this.#waiting.settle(next);
      } else if (consumer === undefined) {
        passedOver.add(next.keyHash);
        this.#putBack(next);
      } else {
        this.#waiting.settle(next);
        this.#give(next, consumer, dispatches);
      }
    }
  }

  #giveAhead(dispatches: Map<Consumer, Dispatch>): void {
    for (let entry = this.#ahead.peek(); entry !== undefined; entry = this.#ahead.peek()) {
      const { position } = entry;
      if (this.#cursor.isAcked(position)) {
        this.#ahead.shift();
        continue;
      }
      const keyHash = this.#options.keys.hashOfEntry(entry.bytes);
      const deliverAtMs = this.#delayed.delayOf(entry);
      const taker = this.#waiting.hasHash(keyHash) ? undefined : this.#takerOf(keyHash);
      if (deliverAtMs === undefined && taker !== undefined) {
        this.#give({ entry, position, keyHash, redeliveryCount: 0 }, taker, dispatches);
      } else if (deliverAtMs !== undefined) {
        if (this.#delayed.isFull) return;
        this.#delayed.add({ position, deliverAtMs, keyHash });
      } else {
        // Without anybody who can take something, entries stay where they are.
        if (this.#waiting.isFull || this.#isFull || !this.#hasTaker()) return;
        this.#waiting.add({ position, keyHash, redeliveryCount: 0 });
      }
      this.#ahead.shift();
    }
  }

  #give(next: Fetched, consumer: Consumer, dispatches: Map<Consumer, Dispatch>): void {
    const dispatch = dispatches.get(consumer) ?? { consumer, deliveries: [] };
    dispatch.deliveries.push(this.#hold(next, consumer));
    dispatches.set(consumer, dispatch);
  }

  #hold({ entry, keyHash, redeliveryCount }: Fetched, consumer: Consumer): Delivery {
    const { position } = entry;
    const ackSet = this.#cursor.ackSetOf(position);
    const messageCount = messagesLeft(entry.messageCount, ackSet);
    consumer.take(messageCount);
    this.#outstanding.add({ position, consumer, messageCount, redeliveryCount, keyHash });
    this.#holders.add(keyHash, consumer);
    return deliveryOf(entry, { redeliveryCount, ackSet });
  }

  /** Takes some entries back from consumers; answers whether there are more. */
  #takeBack(): boolean {
    if (!this.isReturning) return false;
    for (const held of this.#outstanding.takeReturned(this.#isAcked)) this.#onReturned(held);
    return this.isReturning;
  }

  #onReturned(held: Held): void {
    const { position, keyHash = 0, redeliveryCount } = held;
    this.#holders.remove(keyHash);
    if (this.#cursor.isAcked(position)) return;
    this.#waiting.add({ position, keyHash, redeliveryCount: redeliveryCount + 1 });
    this.#returnedSinceFetch.add(keyHash);
  }

  /** The consumer that can take an entry of this key now. */
  #takerOf(keyHash: number): Consumer | undefined {
    const consumer = this.#assignment.consumerOf(keyHash);
    if (consumer?.canTake !== true || this.#isFull) return undefined;
    return this.#holders.mayTake(keyHash, consumer) ? consumer : undefined;
  }

  #hasTaker(): boolean {
    return this.consumers.some((consumer) => consumer.canTake);
  }

  get #isFull(): boolean {
    return this.#outstanding.messages >= this.#options.unackedMax;
  }

  #returnDue(): void {
    for (const { position, keyHash = 0 } of this.#delayed.takeDue())
      if (!this.#cursor.isAcked(position))
        this.#waiting.add({ position, keyHash, redeliveryCount: 0 });
  }

  #fetch(permits: number): ReadRequest | undefined {
    this.#waiting.forget(this.#isAcked);
    const { countMax, bytesMax } = this.#options.bounds;
    const taken = this.#waiting.takeRun(
      Math.min(countMax, permits),
      (keyHash) => this.#takerOf(keyHash) !== undefined,
    );
    const from = taken[0]?.position;
    if (from === undefined) return undefined;
    const request = { from, bounds: { countMax: taken.length, bytesMax } };
    this.#fetching = { request, taken };
    this.#returnedSinceFetch.clear();
    return request;
  }

  #onFetched(taken: readonly WaitingEntry[], entries: readonly StoredEntry[]): void {
    this.#fetching = undefined;
    const last = entries.at(-1)?.position;
    const byEntryId = new Map(entries.map((entry) => [entry.position.entryId, entry]));
    for (const waiting of taken) {
      const { position } = waiting;
      const entry = byEntryId.get(position.entryId);
      if (entry?.position.ledgerId === position.ledgerId) {
        this.#fetched.push({ ...waiting, entry });
      } else if (last !== undefined && comparePositions(position, last) > 0) {
        this.#waiting.putBack(waiting);
      } else {
        // The log no longer keeps the entry.
        this.#waiting.settle(waiting);
      }
    }
  }

  #putBack({ position, keyHash, redeliveryCount }: Fetched): void {
    this.#waiting.putBack({ position, keyHash, redeliveryCount });
  }
}
