import type { Grant, Timer } from "@sluice/core";
import { addAbortListener, removeAbortListener } from "@sluice/core/internal";

/** What one call asks for. */
export interface Ask {
  readonly count: number;
  /** Whether any number of tokens from 1 to `count` will do. */
  readonly isPartial: boolean;
}

/** What a queue does with its waiters. */
export interface QueueHost {
  /** Moves the ramp if `nowMs` is in a new epoch. Its observers may end waits: no grant is under way. */
  enterEpoch(nowMs: number): void;
  /** The grant for the first waiter, or undefined while its tokens are missing. */
  tryGrant(ask: Ask, nowMs: number): Grant | undefined;
  /** When the tokens for this ask will have come if nothing changes; undefined if none are in sight. */
  readyAtMs(ask: Ask, nowMs: number): number | undefined;
  /** A waiter is out of the queue, with a grant or without. */
  onGone(ask: Ask, waitedMs: number, isGranted: boolean): void;
}

/**
 * Longest time between two looks at the first waiter, ms. A ramp can raise the share without waking
 * the queue; one epoch is how often it may. A longer time would let waiters miss such a rise.
 */
const LOOK_MS = 1000;

/** Waiters for tokens, first come, first served. The timer is armed only while a waiter exists. */
export class WaiterQueue {
  readonly #timer: Timer;
  readonly #host: QueueHost;
  /** In the order of arrival. */
  readonly #waiters = new Set<Waiter>();
  #tokens = 0;
  #sleep: AbortController | undefined;

  constructor(timer: Timer, host: QueueHost) {
    this.#timer = timer;
    this.#host = host;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Sum of what the waiters ask for. */
  get tokens(): number {
    return this.#tokens;
  }

  /**
   * Waits for a grant. Rejects with the signal's reason, with what `onTimeout` makes, or with what
   * `rejectAll` says.
   */
  wait(
    ask: Ask,
    sinceMs: number,
    end: {
      readonly signal: AbortSignal | undefined;
      readonly timeoutMs: number | undefined;
      readonly onTimeout: () => Error;
    },
  ): Promise<Grant> {
    return new Promise((resolve, reject: (reason: unknown) => void) => {
      const { signal, timeoutMs, onTimeout } = end;
      const waiter = new Waiter(this, { ask, sinceMs, signal, resolve, reject });
      this.#waiters.add(waiter);
      this.#tokens += ask.count;
      if (timeoutMs !== undefined)
        this.#timer.sleep(timeoutMs, waiter.settled()).then(
          () => this.reject(waiter, onTimeout),
          () => {},
        );
      if (this.#waiters.size > 1) return;
      if (this.#sleep === undefined) void this.#serve();
      else this.#sleep.abort();
    });
  }

  /** Looks at the first waiter again. */
  wake(): void {
    this.#sleep?.abort();
  }

  /** Ends one wait without a grant. */
  reject(waiter: Waiter, reasonOf: () => unknown): void {
    if (this.#remove(waiter, false)) waiter.reject(reasonOf());
  }

  rejectAll(reasonOf: () => unknown): void {
    for (const waiter of this.#waiters) this.reject(waiter, reasonOf);
  }

  /** Runs until no waiter is left. Only one of these runs at a time. */
  async #serve(): Promise<void> {
    for (;;) {
      const nowMs = this.#timer.now();
      this.#host.enterEpoch(nowMs);
      const first = this.#grantAll(nowMs);
      if (first === undefined) return;
      const readyAtMs = this.#host.readyAtMs(first.ask, nowMs) ?? Infinity;
      this.#sleep = new AbortController();
      await this.#timer
        .sleep(Math.min(LOOK_MS, Math.max(0, readyAtMs - nowMs)), this.#sleep.signal)
        .catch(() => {});
      this.#sleep = undefined;
    }
  }

  /** Answers the first waiter whose tokens are missing. */
  #grantAll(nowMs: number): Waiter | undefined {
    for (const waiter of this.#waiters) {
      const grant = this.#host.tryGrant(waiter.ask, nowMs);
      if (grant === undefined) return waiter;
      this.#remove(waiter, true);
      waiter.resolve(grant);
    }
    return undefined;
  }

  #remove(waiter: Waiter, isGranted: boolean): boolean {
    if (!this.#waiters.delete(waiter)) return false;
    waiter.settle();
    this.#tokens -= waiter.ask.count;
    if (this.#waiters.size === 0) this.wake();
    this.#host.onGone(waiter.ask, this.#timer.now() - waiter.sinceMs, isGranted);
    return true;
  }
}

interface WaiterParts {
  readonly ask: Ask;
  readonly sinceMs: number;
  readonly signal: AbortSignal | undefined;
  readonly resolve: (grant: Grant) => void;
  readonly reject: (reason: unknown) => void;
}

/** One call in the queue. It leaves the queue when its caller's signal is aborted. */
class Waiter {
  readonly ask: Ask;
  readonly sinceMs: number = 0;
  readonly resolve: (grant: Grant) => void;
  readonly reject: (reason: unknown) => void;
  readonly #queue: WaiterQueue;
  readonly #signal: AbortSignal | undefined;
  #timeout: AbortController | undefined;

  constructor(queue: WaiterQueue, parts: WaiterParts) {
    this.#queue = queue;
    this.ask = parts.ask;
    this.sinceMs = parts.sinceMs;
    this.resolve = parts.resolve;
    this.reject = parts.reject;
    this.#signal = parts.signal;
    if (parts.signal !== undefined) addAbortListener(parts.signal, this);
  }

  /** Aborted once the waiter is out of the queue; ends the sleep of its timeout. */
  settled(): AbortSignal {
    this.#timeout ??= new AbortController();
    return this.#timeout.signal;
  }

  settle(): void {
    this.#timeout?.abort();
    if (this.#signal !== undefined) removeAbortListener(this.#signal, this);
  }

  /** The signal was aborted. */
  handleEvent(): void {
    this.#queue.reject(this, () => this.#signal?.reason);
  }
}
