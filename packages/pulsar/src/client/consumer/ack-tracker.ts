import type { Timer } from "@sluice/core";
import { Alarm } from "../wait/alarm.ts";
import { ClosedError } from "../error/closed-error.ts";
import { ConnectionError } from "../error/connection-error.ts";
import { deferred } from "../wait/deferred.ts";
import type { Deferred } from "../wait/deferred.ts";
import { PendingAcks } from "./pending-acks.ts";
import type { AckGroup } from "./pending-acks.ts";

export interface AckTrackerOptions {
  /** How long an acknowledgement may wait for others to go with it. */
  readonly groupTimeMs: number;
  readonly batchIndexAck: boolean;
  /** Whether the broker confirms. */
  readonly receipt: boolean;
}

/** The way to the broker, which may be gone for a while. */
export interface AckChannel {
  readonly isOpen: boolean;
  send(group: AckGroup): void;
  /** Resolves with the broker's receipt; a `ConnectionError` if the connection was lost before. */
  request(group: AckGroup): Promise<void>;
}

/** Ids in one command. */
const GROUP_MAX = 1_000;

/** Ids that wait while there is no connection. More are refused: the broker delivers them again. */
const PENDING_MAX = 100_000;

const DONE: Promise<void> = Promise.resolve();

/**
 * Gathers acknowledgements and tells the broker of many at once.
 *
 * Without receipts they are gathered for `groupTimeMs` and the promise of an acknowledgement says
 * that it will be sent, not that it was: if it is lost, the message comes again, as it would if the
 * process died now. With receipts the first goes at once, and those that come while the broker has
 * not answered go together after its answer: nobody waits for a timer, and one command is under way
 * at a time.
 */
export class AckTracker {
  readonly #channel: AckChannel;
  readonly #options: AckTrackerOptions;
  readonly #timer: Timer;
  readonly #alarm: Alarm;
  readonly #pending: PendingAcks;
  /** Who waits for a receipt of what is pending. */
  #waiters: Deferred<void>[] = [];
  /** Why a group failed of whose waiters some may still wait. */
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

  /** Ids that the broker has not been told of. */
  get pending(): number {
    return this.#pending.size;
  }

  /**
   * Acknowledges by `add`, which answers whether there is anything new to tell. Resolves when the
   * tracker has taken it over, with receipts when the broker has.
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

  /** Tells the broker of all that is pending, if there is a connection. */
  flush(): void {
    this.#alarm.clear();
    if (!this.#channel.isOpen || this.#pending.size === 0) return;
    if (this.#options.receipt) this.#underWay ??= this.#request();
    else while (this.#pending.size > 0) this.#channel.send(this.#pending.take(GROUP_MAX));
  }

  /** There is a connection again: it is told of what waited for it. */
  restart(): void {
    this.#pending.restart();
    this.flush();
  }

  /** Forgets what is pending: the subscription was moved, and has forgotten it, too. */
  clear(): void {
    this.#pending.clear();
    this.#settle((waiter) => waiter.resolve());
  }

  /** Sends what is left and waits for its receipts. What finds no connection is not sent. */
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

  /** Sends groups, one after the other's receipt, until none is pending or the connection is lost. */
  async #request(): Promise<void> {
    while (this.#pending.size > 0 && this.#channel.isOpen) {
      const group = this.#pending.take(GROUP_MAX);
      // Who has its id in which group is not known: all wait for the last.
      const waiters = this.#pending.size === 0 ? this.#waiters.splice(0) : [];
      const failure = await this.#failureOf(group);
      if (failure instanceof ConnectionError) {
        this.#pending.restore(group);
        this.#waiters.unshift(...waiters);
      } else this.#onAnswered(waiters, failure);
      // Each of the others might take as long, and somebody waits for the end.
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
