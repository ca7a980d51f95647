import { COUNT_MAX, requireCount, requireDuration, requireWhole } from "../errors.ts";
import { NANOS_PER_MS, toNanos } from "../time.ts";
import type { Clock } from "../time.ts";
import { Refill } from "./refill.ts";

export interface TokenBucketOptions {
  /** Tokens per period, whole. For half a token a second write `rate: 1, periodMs: 2000`. */
  readonly rate: number;
  /** 1000 unless given; nanoseconds are its smallest part. */
  readonly periodMs?: number;
  /** Most tokens the bucket gathers; the rate, and following it, unless given. */
  readonly capacity?: number;
  /** Balance at the start; the rate unless given. More than the capacity lasts until a refill. */
  readonly initialTokens?: number;
  /** Where a pause ends; 1 % of the capacity unless given. At least one token, at most a full bucket. */
  readonly targetTokens?: number;
  /** Tokens are added at most this often; 16 unless given, 0 keeps the balance always current. */
  readonly resolutionMs?: number;
  /** Debt beyond this is forgiven; unless given only what doubles can count (2^53) bounds it. */
  readonly maxDebt?: number;
}

/**
 * A token bucket that refills lazily and may run into debt.
 *
 * Nothing ticks: elapsed time becomes tokens when the bucket is touched. `charge` and
 * `chargeAndCheck` never refuse, because their callers pay for work they have already accepted;
 * they pause afterwards, for `pauseMs()`. `tryAcquire` is for callers who can still refuse.
 *
 * Counts are whole and the arithmetic is exact, for any rate, period and stretch of time. Over any
 * stretch, what is admitted while the balance is above zero is at most capacity + ⌈rate × time⌉,
 * the time being the stretch and one resolution, plus what its last charge took on credit.
 *
 * Every method that needs the time takes it from `nowMs` if given, so that several buckets can
 * decide at one instant; it must come from this bucket's clock.
 */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #options: TokenBucketOptions;
  #refill: Refill;
  // Numbers start as numbers: V8 boxes every value of a field that was once undefined.
  #capacity = 0;
  #targetTokens = 0;
  readonly #balanceMin: number = 0;
  #balance = 0;
  #refilledAtNanos = 0;
  #carried = 0;
  /** Up to here the balance cannot have changed: the one comparison of the hot path. */
  #quietUntilMs = 0;
  /** The instant for which `#addTokens` is called. */
  #nowMs = 0;

  constructor(clock: Clock, options: TokenBucketOptions) {
    const { periodMs = 1000, resolutionMs = 16, initialTokens = options.rate } = options;
    requireWhole("rate", options.rate, 1);
    requireDuration("periodMs", periodMs, 1 / NANOS_PER_MS);
    requireDuration("resolutionMs", resolutionMs);
    requireWhole("initialTokens", initialTokens, 0);
    if (options.capacity !== undefined) requireWhole("capacity", options.capacity, 1);
    if (options.targetTokens !== undefined) requireWhole("targetTokens", options.targetTokens, 0);
    if (options.maxDebt !== undefined) requireWhole("maxDebt", options.maxDebt, 0);
    this.#clock = clock;
    this.#options = { ...options, periodMs, resolutionMs };
    this.#refill = new Refill(options.rate, periodMs, resolutionMs);
    this.#capacity = options.capacity ?? options.rate;
    this.#targetTokens = targetTokens(options, this.#capacity);
    this.#balanceMin = 0 - (options.maxDebt ?? COUNT_MAX);
    this.#balance = initialTokens;
    this.#refilledAtNanos = toNanos(clock.now());
    this.#rememberQuiet();
  }

  get capacity(): number {
    return this.#capacity;
  }

  // Most counts are whole by one test, made here because the hot path has no room for a call.

  /** Takes `count` tokens, into debt if it must. Reads no clock. */
  charge(count: number): void {
    if (count >>> 0 !== count) requireCount(count);
    this.#balance -= count;
    if (this.#balance < 0) this.#boundDebt();
  }

  /** Takes `count` tokens, into debt if it must, and tells whether any are left. */
  chargeAndCheck(count: number, nowMs?: number): boolean {
    this.#touch(nowMs);
    if (count >>> 0 !== count) requireCount(count);
    const balance = this.#balance - count;
    this.#balance = balance;
    if (balance > 0) return true;
    this.#boundDebt();
    return false;
  }

  /**
   * Takes `count` tokens if they are there, else none. A full bucket lets even a larger count
   * pass, into debt, so that nothing is refused for ever for being large.
   */
  tryAcquire(count: number, nowMs?: number): boolean {
    if (!this.canTake(count, nowMs)) return false;
    this.charge(count);
    return true;
  }

  /** What `tryAcquire` would answer. */
  canTake(count: number, nowMs?: number): boolean {
    if (count >>> 0 !== count) requireCount(count);
    this.#touch(nowMs);
    return this.#balance >= count || this.#balance >= this.#capacity;
  }

  hasTokens(nowMs?: number): boolean {
    return this.tokens(nowMs) > 0;
  }

  /** The balance, negative while in debt; exact but for what the resolution still holds back. */
  tokens(nowMs?: number): number {
    this.#touch(nowMs);
    return this.#balance;
  }

  /**
   * Milliseconds until the bucket holds its target, or `until` tokens; 0 if it does. Whoever waits
   * that long, and longer than the resolution, finds them there if nobody else took any. More than
   * the capacity never are.
   */
  pauseMs(until: number = Math.max(1, this.#targetTokens), nowMs?: number): number {
    requireCount(until);
    const balance = this.tokens(nowMs);
    if (balance >= until) return 0;
    return this.#refill.nanosFor(BigInt(until) - BigInt(balance)) / NANOS_PER_MS;
  }

  /**
   * Changes the rate from now on. What time has brought so far is added at the old rate, debt
   * stays, and a capacity that was never set follows the rate. Pauses given out before are stale:
   * whoever waits on this bucket must be woken to ask again.
   */
  setRate(rate: number, nowMs?: number): void {
    requireWhole("rate", rate, 1);
    const { periodMs = 1000, resolutionMs = 16 } = this.#options;
    this.#addElapsed(toNanos(nowMs ?? this.#clock.now()));
    const refill = new Refill(rate, periodMs, resolutionMs);
    this.#carried = this.#refill.convert(this.#carried, refill);
    this.#refill = refill;
    this.#capacity = this.#options.capacity ?? rate;
    this.#targetTokens = targetTokens(this.#options, this.#capacity);
    this.#balance = Math.min(this.#balance, this.#capacity);
    this.#rememberQuiet();
  }

  #boundDebt(): void {
    if (this.#balance < this.#balanceMin) this.#balance = this.#balanceMin;
  }

  #touch(nowMs: number | undefined): void {
    // The clock's answer goes through a field: V8 boxes a number that comes from one of two places.
    if (nowMs === undefined) {
      this.#nowMs = this.#clock.now();
      if (this.#nowMs > this.#quietUntilMs) this.#addTokens();
    } else if (nowMs > this.#quietUntilMs) {
      this.#nowMs = nowMs;
      this.#addTokens();
    }
  }

  #addTokens(): void {
    const nowNanos = toNanos(this.#nowMs);
    const elapsedNanos = nowNanos - this.#refilledAtNanos;
    if (elapsedNanos > this.#refill.quietNanos(this.#carried)) this.#addElapsed(nowNanos);
  }

  #addElapsed(nowNanos: number): void {
    if (nowNanos <= this.#refilledAtNanos) return;
    const before = this.#balance;
    const filled = this.#refill.addTo(before, this.#refilledAtNanos, nowNanos, this.#carried);
    this.#carried = this.#refill.carried;
    this.#refilledAtNanos = nowNanos;
    // The cap comes before the caller's own charge, so a large charge on a full bucket is not
    // forgiven; and a balance above the capacity from the start is cut only by what flows over.
    if (filled > before) this.#balance = Math.min(filled, this.#capacity);
    this.#rememberQuiet();
  }

  #rememberQuiet(): void {
    // One nanosecond early: the exact comparison is made in nanoseconds, by #addTokens.
    const quietNanos = this.#refilledAtNanos + this.#refill.quietNanos(this.#carried) - 1;
    this.#quietUntilMs = quietNanos / NANOS_PER_MS;
  }
}

function targetTokens(options: TokenBucketOptions, capacity: number): number {
  return Math.min(options.targetTokens ?? Math.floor(capacity / 100), capacity);
}
