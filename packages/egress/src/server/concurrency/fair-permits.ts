import type { ConcurrencyLimiter, PermitWaiter, Timer } from "@sluice/core";
import { Permit } from "@sluice/core/internal";
import type { PermitIssuer } from "@sluice/core/internal";
import { Ranking } from "./ranking.ts";

/** Gets the permit and how long the request waited for it, or undefined: refused. */
export type OnPermit = (permit: Permit | undefined, waitedMs: number) => void;

/** Takes a waiter out of the queue; for clients that have gone. */
export type Leave = (nowMs: number) => void;

export interface FairPermitsOptions {
  /** Times the wait. Without one nothing waits. */
  readonly timer: Timer | undefined;
  /** Most requests that wait, of all keys. */
  readonly maxWaiting: number;
  readonly maxWaitMs: number;
}

interface KeyUse {
  readonly key: string;
  inFlight: number;
  /** In order of arrival, which is also the order of their deadlines. */
  readonly waiters: Waiter[];
}

interface Waiter {
  readonly use: KeyUse;
  readonly sinceMs: number;
  readonly onPermit: OnPermit;
}

/**
 * Permits by max-min fairness: a permit that comes back goes to the waiting key that has the fewest
 * in flight, among equals to the one that has waited longest since its last permit. No permit is kept
 * free for later, so one key alone may use all of them.
 *
 * If the queue is full, a request of a key with few waiters replaces the newest waiter of the
 * key with most. The state is one entry for each key that has a permit or a waiter.
 */
export class FairPermits {
  readonly #limiter: ConcurrencyLimiter;
  readonly #options: FairPermitsOptions;
  readonly #uses = new Map<string, KeyUse>();
  /** All waiters in order of arrival. */
  readonly #waiters = new Set<Waiter>();
  readonly #byInFlight = new Ranking<KeyUse>();
  readonly #byWaiting = new Ranking<KeyUse>();
  /** The one waiter in the limiter's own queue that stands for all of ours. */
  #proxy: PermitWaiter | undefined;
  #sleep: AbortController | undefined;

  /** `limiter` must allow one waiter, and all its permits must be taken through this object. */
  constructor(limiter: ConcurrencyLimiter, options: FairPermitsOptions) {
    this.#limiter = limiter;
    this.#options = options;
  }

  get waiting(): number {
    return this.#waiters.size;
  }

  /** Keys with a permit or a waiter. */
  get keys(): number {
    return this.#uses.size;
  }

  /** A permit at once, or undefined if there is none or a request waits. */
  tryAcquire(key: string, nowMs: number): Permit | undefined {
    if (this.#waiters.size > 0) return undefined;
    const permit = this.#limiter.tryAcquire(1, 0, nowMs);
    return permit === undefined ? undefined : this.#give(this.#useOf(key), permit);
  }

  /** Whether a request may wait at all. */
  get canWait(): boolean {
    const { timer, maxWaiting, maxWaitMs } = this.#options;
    return timer !== undefined && maxWaiting > 0 && maxWaitMs > 0;
  }

  /**
   * Joins the queue; `onPermit` is called once, now if the queue is full. Returns how to leave the queue: that
   * refuses the request, unless it has its answer.
   */
  wait(key: string, nowMs: number, onPermit: OnPermit): Leave {
    const known = this.#uses.get(key);
    if (!this.canWait || !this.#makeRoom(known?.waiters.length ?? 0, nowMs)) {
      onPermit(undefined, 0);
      return stay;
    }
    const use = known ?? this.#useOf(key);
    const waiter: Waiter = { use, sinceMs: nowMs, onPermit };
    use.waiters.push(waiter);
    this.#waiters.add(waiter);
    const { length } = use.waiters;
    this.#byWaiting.move(use, length === 1 ? undefined : length - 1, length);
    if (length === 1) this.#byInFlight.move(use, undefined, use.inFlight);
    this.#queue(nowMs);
    this.#keepTime();
    return (thenMs) => {
      if (this.#waiters.has(waiter)) this.#refuse(waiter, thenMs);
    };
  }

  #refuse(waiter: Waiter, nowMs: number): void {
    this.#leave(waiter);
    waiter.onPermit(undefined, nowMs - waiter.sinceMs);
  }

  #makeRoom(ownWaiters: number, nowMs: number): boolean {
    if (this.#waiters.size < this.#options.maxWaiting) return true;
    const longest = this.#byWaiting.highest;
    const newest = longest?.waiters.at(-1);
    if (longest === undefined || newest === undefined || ownWaiters + 1 >= longest.waiters.length)
      return false;
    this.#refuse(newest, nowMs);
    return true;
  }

  #queue(nowMs: number): void {
    if (this.#proxy !== undefined || this.#waiters.size === 0) return;
    this.#proxy = { weight: 1, priority: 0, onPermit: (permit) => this.#handOver(permit) };
    this.#limiter.wait(this.#proxy, nowMs);
  }

  #handOver(permit: Permit): void {
    this.#proxy = undefined;
    const nowMs = permit.startedAtMs;
    const [waiter] = this.#byInFlight.lowest?.waiters ?? [];
    if (waiter === undefined) {
      permit.end("ignored", nowMs);
      return;
    }
    this.#leave(waiter);
    const given = this.#give(waiter.use, permit);
    this.#queue(nowMs);
    waiter.onPermit(given, nowMs - waiter.sinceMs);
  }

  #leave(waiter: Waiter): void {
    const { use } = waiter;
    const { length } = use.waiters;
    use.waiters.splice(use.waiters.indexOf(waiter), 1);
    this.#waiters.delete(waiter);
    this.#byWaiting.move(use, length, length === 1 ? undefined : length - 1);
    if (length > 1) return;
    this.#byInFlight.move(use, use.inFlight, undefined);
    this.#forget(use);
    if (this.#waiters.size > 0) return;
    this.#sleep?.abort();
    if (this.#proxy !== undefined) this.#limiter.cancel(this.#proxy);
    this.#proxy = undefined;
  }

  #useOf(key: string): KeyUse {
    const known = this.#uses.get(key);
    if (known !== undefined) return known;
    const use = { key, inFlight: 0, waiters: [] };
    this.#uses.set(key, use);
    return use;
  }

  #forget(use: KeyUse): void {
    if (use.inFlight === 0 && use.waiters.length === 0) this.#uses.delete(use.key);
  }

  /** The permit in another that counts for the key; the count falls before the permit is handed on. */
  #give(use: KeyUse, permit: Permit): Permit {
    // The last waiter of a key has left before its permit is given, and its entry with it.
    this.#uses.set(use.key, use);
    this.#count(use, 1);
    const issuer: PermitIssuer = {
      onMeasure: (_, outcome, nowMs) => {
        permit.measure(outcome, nowMs);
      },
      onEnd: (_, outcome, nowMs) => {
        this.#count(use, -1);
        this.#forget(use);
        permit.end(outcome, nowMs);
      },
    };
    return new Permit(issuer, permit.weight, permit.startedAtMs, permit.inFlightAtStart);
  }

  #count(use: KeyUse, by: number): void {
    const before = use.inFlight;
    use.inFlight += by;
    if (use.waiters.length > 0) this.#byInFlight.move(use, before, use.inFlight);
  }

  /** Refuses waiters at their deadline, and asks again when an adaptive limit's pace allows a start. */
  #keepTime(): void {
    const { timer } = this.#options;
    if (this.#sleep !== undefined || timer === undefined) return;
    const ended = new AbortController();
    this.#sleep = ended;
    this.#watch(timer, ended.signal)
      .catch(() => undefined)
      .finally(() => {
        this.#sleep = undefined;
        if (this.#waiters.size > 0) this.#keepTime();
      });
  }

  async #watch(timer: Timer, signal: AbortSignal): Promise<void> {
    for (const { maxWaitMs } = this.#options; ;) {
      const [oldest] = this.#waiters;
      if (oldest === undefined) return;
      const nowMs = timer.now();
      const leftMs = oldest.sinceMs + maxWaitMs - nowMs;
      if (leftMs <= 0) {
        this.#refuse(oldest, nowMs);
        continue;
      }
      const paceMs = this.#limiter.pauseMs(1, nowMs);
      await timer.sleep(
        paceMs === undefined || paceMs === 0 ? leftMs : Math.min(leftMs, paceMs),
        signal,
      );
      this.#limiter.handOver(timer.now());
    }
  }
}

function stay(): void {
  // The request has its answer.
}
