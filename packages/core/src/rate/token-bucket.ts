import { requireCount, requireWhole } from "../errors.ts";
import { systemClock } from "../system.ts";
import type { Clock } from "../time.ts";
import { Balance } from "./balance.ts";
import { requireRate, requireRateOptions } from "./rate-options.ts";
import type { BucketOptions } from "./rate-options.ts";

export interface TokenBucketOptions extends BucketOptions {
  /**
   * Where the time comes from.
   * @default the monotonic system clock
   */
  readonly clock?: Clock;
}

/** The balance behind a bucket, for limiters that decide over several buckets in one walk. */
export let balanceOf: (bucket: TokenBucket) => Balance;

/**
 * A token bucket that refills lazily and may run into debt.
 *
 * `tryAcquire` is for work that can still be refused; after a refusal `pauseMs(count)` tells how
 * long to wait. `charge` and `chargeAndCheck` never refuse, because they pay for work that was
 * already accepted; after `chargeAndCheck` answered false, pause for `throttlingDurationMs()`.
 *
 * Nothing ticks: elapsed time becomes tokens when the bucket is touched. Counts are whole and the
 * arithmetic is exact for any rate, period and duration. Over any interval, what is admitted while
 * the balance is above zero is at most capacity + ⌈rate × (interval + resolution)⌉, plus what the
 * last charge took on credit. An `initialTokens` above the capacity adds its excess once.
 *
 * Questions change nothing: asked or not, later answers stay the same. Every method takes the time
 * from `nowMs` if given, so that several buckets can decide at one instant; it must come from this
 * bucket's clock.
 *
 * @example
 * const bucket = new TokenBucket({ rate: 10 });
 * if (bucket.tryAcquire()) send();
 * else setTimeout(retry, bucket.pauseMs());
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #balance: Balance;

  static {
    balanceOf = (bucket) => bucket.#balance;
  }

  constructor(options: TokenBucketOptions) {
    requireRateOptions(options);
    if (options.targetTokens !== undefined) requireWhole("targetTokens", options.targetTokens, 0);
    if (options.maxDebt !== undefined) requireWhole("maxDebt", options.maxDebt, 0);
    this.#clock = options.clock ?? systemClock;
    this.#balance = new Balance({ ...options }, this.#clock.now());
  }

  get capacity(): number {
    return this.#balance.capacity;
  }

  // Most counts are whole by one test, made here because the hot path has no room for a call.

  /**
   * Takes `count` tokens if they are there, else none. A full bucket admits even a count above the
   * capacity, into debt, so that no count is refused for ever.
   */
  tryAcquire(count: number = 1, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount("count of TokenBucket.tryAcquire", count);
    this.#touch(nowMs);
    return this.#balance.take(count) || this.#tryAcquireExactly(count, nowMs);
  }

  /** What `tryAcquire` would answer. */
  canAcquire(count: number = 1, nowMs: number = this.#clock.now()): boolean {
    requireCount("count of TokenBucket.canAcquire", count);
    return this.#balance.holds(count, nowMs);
  }

  /**
   * Milliseconds until `tryAcquire(count)` is admitted if no tokens are taken meanwhile; 0 if it is
   * admitted now. For a count above the capacity: until the bucket is full.
   */
  pauseMs(count: number = 1, nowMs: number = this.#clock.now()): number {
    requireCount("count of TokenBucket.pauseMs", count);
    return this.#balance.pauseMs(count, nowMs);
  }

  /** Takes `count` tokens, into debt if necessary. */
  charge(count: number = 1, nowMs?: number): void {
    if (count >>> 0 !== count) requireCount("count of TokenBucket.charge", count);
    this.#touch(nowMs);
    this.#balance.takeOnCredit(count);
  }

  /** Takes `count` tokens, into debt if necessary; true while at least one token is left. */
  chargeAndCheck(count: number = 1, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount("count of TokenBucket.chargeAndCheck", count);
    this.#touch(nowMs);
    return this.#balance.takeOnCredit(count);
  }

  /**
   * Gives back tokens that were taken and not used; the caller never gives back more than it took.
   * They may lift the balance above the capacity; what is above it is gone with the next refill.
   */
  deposit(count: number, nowMs: number = this.#clock.now()): void {
    requireCount("count of TokenBucket.deposit", count);
    this.#balance.refresh(nowMs);
    this.#balance.putBack(count);
  }

  /**
   * Milliseconds to pause after `chargeAndCheck` answered false: until the debt is paid and
   * `targetTokens` are there, so that work does not resume for a single token. 0 if they are there.
   */
  throttlingDurationMs(nowMs: number = this.#clock.now()): number {
    return this.#balance.throttlingDurationMs(nowMs);
  }

  hasTokens(nowMs?: number): boolean {
    return this.tokens(nowMs) > 0;
  }

  /** The balance, negative while in debt. */
  tokens(nowMs: number = this.#clock.now()): number {
    return this.#balance.tokensAt(nowMs);
  }

  /**
   * Changes the rate from now on. Time that has passed counts at the old rate, debt stays, and a
   * capacity that was never set follows the rate. Pauses that were answered before are stale: wake
   * the waiters, so that they ask again.
   */
  setRate(rate: number, nowMs: number = this.#clock.now()): void {
    requireRate(rate);
    this.#balance.setRate(rate, nowMs);
  }

  #touch(nowMs: number | undefined): void {
    // Two calls: V8 boxes a number that comes from one of two places.
    if (nowMs === undefined) this.#balance.touch(this.#clock.now());
    else this.#balance.touch(nowMs);
  }

  /** For a count that the balance does not cover: tokens may be due, or the bucket full. */
  #tryAcquireExactly(count: number, nowMs: number = this.#clock.now()): boolean {
    if (!this.#balance.holds(count, nowMs)) return false;
    this.#balance.refresh(nowMs);
    this.#balance.takeOnCredit(count);
    return true;
  }
}
