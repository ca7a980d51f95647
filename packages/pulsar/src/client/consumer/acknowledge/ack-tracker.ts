import type { Timer } from "@sluice/core";
import { Alarm } from "../../wait/alarm.ts";
import { ClosedError } from "../../error/closed-error.ts";
import { ConnectionError } from "../../error/connection-error.ts";
import { deferred } from "../../wait/deferred.ts";
import type { Deferred } from "../../wait/deferred.ts";
import { PendingAcks } from "./pending-acks.ts";
import type { AckGroup } from "./pending-acks.ts";

export interface AckTrackerOptions {
  /** Longest wait of an acknowledgement for others to be sent with it. */
  readonly groupTimeMs: number;
  readonly batchIndexAck: boolean;
  /** Whether the broker confirms acknowledgements. */
  readonly receipt: boolean;
}

/** The connection to the broker, which may be missing for a while. */
export interface AckChannel {
  readonly isOpen: boolean;
  send(group: AckGroup): void;
  /**
   * Resolves with ACK_RESPONSE; rejects with a `ConnectionError` if the connection is lost before.
   */
  request(group: AckGroup): Promise<void>;
}

/** Ids in one ACK command. */
const GROUP_MAX = 1_000;

/**
 * Ids that wait while there is no connection. Further ones are rejected; the broker redelivers
 * those messages.
 */
const PENDING_MAX = 100_000;

const DONE: Promise<void> = Promise.resolve();

/**
 * Groups acknowledgements into few ACK commands.
 *
 * Without receipts, acknowledgements are grouped for `groupTimeMs`, and `ack` resolves before they
 * are sent: a lost one means a redelivery. With receipts, the first is sent at once, and those that
 * come before ACK_RESPONSE are sent together after it: one command is in flight at a time, and no
 * timer delays it.
 */
export class AckTracker {
  readonly #channel: AckChannel;
  readonly #options: AckTrackerOptions;
  readonly #timer: Timer;
  readonly #alarm: Alarm;
  readonly #pending: PendingAcks;
  /** Calls of `ack` that wait for a receipt of a pending id. */
  #waiters: Deferred<void>[] = [];
  /** The error of an earlier group, some of whose calls still wait. */
  #failure: unknown;
  #underWay: Promise<void> | undefined;
  #isClosed = false;

  constructor(timer: Timer, channel: AckChannel, options: AckTrackerOptions) {
    this.#timer = timer;
    this.#channel = channel;
    this.#options = options;
    this.#pending = new PendingAcks(options);
    this.#alarm = new Alarm(timer, () => this.flush());
  }

  /** Ids that were not sent to the broker yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Acknowledges by `add`, which answers whether there is a new id to send. Resolves when the id is
   * queued; with receipts, when the broker has confirmed it.
   */
  ack(add: (pending: PendingAcks) => boolean): Promise<void> {
    if (this.#isClosed) return Promise.reject(new ClosedError("the consumer is closed"));
    if (this.#pending.size >= PENDING_MAX) return Promise.reject(tooMany());
    if (!add(this.#pending)) return DONE;
    if (this.#options.receipt) return this.#confirmed();
    if (this.#pending.size >= GROUP_MAX || this.#options.groupTimeMs === 0) this.flush();
    else if (!this.#alarm.isSet) this.#alarm.set(this.#timer.now() + this.#options.groupTimeMs);
    return DONE;
  }

  /** Sends all pending ids, if there is a connection. */
  flush(): void {
    this.#alarm.clear();
    if (!this.#channel.isOpen || this.#pending.size === 0) return;
    if (this.#options.receipt) this.#underWay ??= this.#request();
    else while (this.#pending.size > 0) this.#channel.send(this.#pending.take(GROUP_MAX));
  }

  /** Attached again: sends the ids that waited. */
  restart(): void {
    this.#pending.restart();
    this.flush();
  }

  /** Drops all pending ids: a seek moved the subscription, and the broker has dropped its own. */
  clear(): void {
    this.#pending.clear();
    this.#settle((waiter) => waiter.resolve());
  }

  /** Sends the pending ids and waits for their receipts. Without a connection they are not sent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.flush();
    await this.#underWay;
    this.#settle((waiter) => waiter.reject(new ClosedError("the consumer was closed")));
    this.#pending.clear();
  }

  #confirmed(): Promise<void> {
    const waiter = deferred<void>();
    this.#waiters.push(waiter);
    this.flush();
    return waiter.promise;
  }

  /**
   * Sends group after group, each after the receipt of the one before, until none is pending or the
   * connection is lost.
   */
  async #request(): Promise<void> {
    while (this.#pending.size > 0 && this.#channel.isOpen) {
      const group = this.#pending.take(GROUP_MAX);
      // Which call has its id in which group is not tracked: all calls wait for the last group.
      const waiters = this.#pending.size === 0 ? this.#waiters.splice(0) : [];
      const failure = await this.#failureOf(group);
      if (failure instanceof ConnectionError) {
        this.#pending.restore(group);
        this.#waiters.unshift(...waiters);
      } else this.#onAnswered(waiters, failure);
      // Further groups could time out too, and `close` waits for them.
      if (this.#isClosed && failure !== undefined) break;
    }
    this.#underWay = undefined;
  }

  async #failureOf(group: AckGroup): Promise<unknown> {
    try {
      await this.#channel.request(group);
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #onAnswered(waiters: readonly Deferred<void>[], failure: unknown): void {
    this.#failure ??= failure;
    if (waiters.length === 0) return;
    for (const waiter of waiters) {
      if (this.#failure === undefined) waiter.resolve();
      else waiter.reject(this.#failure);
    }
    this.#failure = undefined;
  }

  #settle(settle: (waiter: Deferred<void>) => void): void {
    for (const waiter of this.#waiters.splice(0)) settle(waiter);
  }
}

function tooMany(): ConnectionError {
  return new ConnectionError(`${PENDING_MAX} acknowledgements wait for a connection`);
}
