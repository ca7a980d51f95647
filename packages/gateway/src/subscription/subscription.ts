import { RefusalError } from "../refusal/refusal-error.ts";
import type { Position } from "../storage/position.ts";
import type { ReadBounds, StoredEntry } from "../storage/log/topic-log.ts";
import type { Consumer } from "./consumer.ts";
import type { Cursor } from "./cursor/cursor.ts";
import type { Ack } from "./delivery.ts";
import type { ActiveChange, Dispatch, Dispatcher, ReadRequest } from "./dispatch/dispatcher.ts";
import { KeySharedDispatcher } from "./dispatch/key-shared/key-shared-dispatcher.ts";
import type { KeyHashes } from "./dispatch/key-shared/key-shared-dispatcher.ts";
import { SharedDispatcher } from "./dispatch/shared-dispatcher.ts";
import type { DelayOptions } from "./dispatch/delayed-entries.ts";
import { SingleActiveDispatcher } from "./dispatch/single-active-dispatcher.ts";

/**
 * Who gets the entries of a subscription: its only consumer; all in turn; the first by priority, and
 * the next one when that leaves; or all, each the entries of its keys.
 */
export type SubscriptionType = "exclusive" | "shared" | "failover" | "key-shared";

export interface SubscriptionOptions {
  /** What is read at once, and so all that is held of entries that were not delivered. */
  readonly bounds: ReadBounds;
  /** Messages that the consumers of a shared subscription may have without acknowledging them. */
  readonly unackedMax: number;
  readonly consumersMax: number;
  readonly delays: DelayOptions;
  readonly keys: KeyHashes;
  /** Of a partitioned topic. */
  readonly partition: number | undefined;
}

/**
 * One subscription without any I/O: it is told what its consumers and the log do, and asked what to
 * read and what to deliver. Each entry of the log is delivered until it is acknowledged, to one
 * consumer at a time; an acknowledged one is not delivered any more.
 */
export class Subscription {
  readonly cursor: Cursor;
  readonly #options: SubscriptionOptions;
  #type: SubscriptionType;
  #dispatcher: Dispatcher;

  constructor(cursor: Cursor, type: SubscriptionType, options: SubscriptionOptions) {
    this.cursor = cursor;
    this.#options = options;
    this.#type = type;
    this.#dispatcher = this.#createDispatcher();
  }

  get type(): SubscriptionType {
    return this.#type;
  }

  get consumers(): readonly Consumer[] {
    return this.#dispatcher.consumers;
  }

  /** Whether entries are on their way back from consumers; see `Dispatcher`. */
  get isReturning(): boolean {
    return this.#dispatcher.isReturning;
  }

  /** Entries that wait for their delivery time. */
  get delayedEntries(): number {
    return this.#dispatcher.delayedEntries;
  }

  /** Wall time at which the next of them is due; undefined if none waits. */
  get nextDueMs(): number | undefined {
    return this.#dispatcher.nextDueMs;
  }

  isActive(consumer: Consumer): boolean {
    return this.#dispatcher.isActive(consumer);
  }

  /** Throws a `RefusalError` if there is no room for it. A subscription of nobody takes its type. */
  join(consumer: Consumer, type: SubscriptionType): readonly ActiveChange[] {
    if (this.consumers.length === 0 && type !== this.#type) {
      this.#type = type;
      this.#dispatcher = this.#createDispatcher();
    }
    if (type !== this.#type)
      throw new RefusalError("ConsumerBusy", `the subscription is ${this.#type}, not ${type}`);
    if (type === "exclusive" && this.consumers.length > 0)
      throw new RefusalError("ConsumerBusy", "the exclusive subscription has a consumer");
    if (this.consumers.length >= this.#options.consumersMax)
      throw new RefusalError("ConsumerBusy", "the subscription has too many consumers");
    return this.#dispatcher.join(consumer);
  }

  leave(consumer: Consumer): readonly ActiveChange[] {
    return this.#dispatcher.leave(consumer);
  }

  /** All consumers leave: what was delivered and not acknowledged is read again, as if for the first time. */
  leaveAll(): void {
    this.#dispatcher = this.#createDispatcher();
  }

  acknowledge(acks: readonly Ack[]): void {
    for (const ack of acks)
      if (this.cursor.acknowledge(ack)) this.#dispatcher.onAcked(ack.position);
  }

  acknowledgeUpTo(ack: Ack): void {
    if (this.#type === "shared" || this.#type === "key-shared")
      throw new RefusalError("NotAllowedError", "a shared subscription is acknowledged one by one");
    this.cursor.acknowledgeUpTo(ack);
  }

  /** Acknowledges everything before a position on behalf of an administrator or a policy. */
  skipTo(position: Position): void {
    this.cursor.skipTo(position);
    this.#dispatcher.onSkipped(position);
  }

  /** Without positions: all that the consumer has. */
  redeliver(consumer: Consumer, positions?: readonly Position[]): void {
    this.#dispatcher.redeliver(consumer, positions);
  }

  /** Its consumers must have left. */
  seek(position: Position): void {
    this.cursor.moveTo(position);
    this.leaveAll();
  }

  /** Entries that are remembered by position: with consumers, to be delivered again, or delayed. */
  get trackedEntries(): number {
    return this.#dispatcher.trackedEntries;
  }

  /** Bytes of the entries that were read and not delivered. */
  get heldBytes(): number {
    return this.#dispatcher.heldBytes;
  }

  /** Lets go of these entries; they are read again when a consumer can take them. */
  letGo(): void {
    this.#dispatcher.letGo();
  }

  wanted(): ReadRequest | undefined {
    return this.#dispatcher.wanted();
  }

  onRead(request: ReadRequest, entries: readonly StoredEntry[]): void {
    this.#dispatcher.onRead(request, entries);
  }

  dispatch(): readonly Dispatch[] {
    return this.#dispatcher.dispatch();
  }

  #createDispatcher(): Dispatcher {
    if (this.#type === "shared") return new SharedDispatcher(this.cursor, this.#options);
    if (this.#type === "key-shared") return new KeySharedDispatcher(this.cursor, this.#options);
    return new SingleActiveDispatcher(this.cursor, this.#options);
  }
}
