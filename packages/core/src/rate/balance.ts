import { COUNT_MAX } from "../errors.ts";
import { NANOS_PER_MS, toNanos } from "../time.ts";
import { initialTokensOf, refillOf } from "./rate-options.ts";
import type { BucketOptions } from "./rate-options.ts";
import type { Refill } from "./refill.ts";

/**
 * The tokens of one bucket and the arithmetic of refilling them. Reads no clock and checks no
 * argument: `TokenBucket` does both. `take` and `takeOnCredit` see the tokens that were there at the
 * last `touch` or `refresh`. Questions are exact to the nanosecond and change nothing: asked or not,
 * later answers stay the same.
 */
export class Balance {
  readonly #options: BucketOptions;
  #refill: Refill;
  // Numbers start as numbers: V8 boxes every value of a field that was once undefined.
  capacity = 0;
  #targetTokens = 0;
  readonly #min: number = 0;
  /** At the last refill; negative while in debt. */
  #tokens = 0;
  #refilledAtNanos = 0;
  #carried = 0;
  /** Up to this instant no token is added: the one comparison of the hot path. */
  #quietUntilMs = 0;

  constructor(options: BucketOptions, nowMs: number) {
    this.#options = options;
    this.#refill = refillOf(options);
    this.capacity = options.capacity ?? options.rate;
    this.#targetTokens = targetTokens(options, this.capacity);
    this.#min = 0 - (options.maxDebt ?? COUNT_MAX);
    this.#tokens = initialTokensOf(options);
    this.#refilledAtNanos = toNanos(nowMs);
    this.#rememberQuiet();
  }

  /** Adds the tokens that are due, unless the last refill is not older than the resolution. */
  touch(nowMs: number): void {
    if (nowMs > this.#quietUntilMs) this.#addDue(toNanos(nowMs));
  }

  /** Adds the tokens that are due, however old the last refill is. */
  refresh(nowMs: number): void {
    this.#addElapsed(toNanos(nowMs));
  }

  /** Takes `count` tokens if they are there, else none. */
  take(count: number): boolean {
    const tokens = this.#tokens - count;
    if (tokens < 0) return false;
    this.#tokens = tokens;
    return true;
  }

  /** Adds tokens, also above the capacity; the next refill takes away what is above it. */
  putBack(count: number): void {
    this.#tokens += count;
  }

  /** Takes `count` tokens, into debt if necessary; true while at least one is left. */
  takeOnCredit(count: number): boolean {
    const tokens = this.#tokens - count;
    this.#tokens = tokens;
    if (tokens > 0) return true;
    if (tokens < this.#min) this.#tokens = this.#min;
    return false;
  }

  /** Negative while in debt. */
  tokensAt(nowMs: number): number {
    return this.#filledAt(toNanos(nowMs));
  }

  /** Whether `count` tokens are there, or the bucket is full. */
  holds(count: number, nowMs: number): boolean {
    return this.tokensAt(nowMs) >= Math.min(count, this.capacity);
  }

  /** Milliseconds until `holds(count)`; 0 if it does. */
  pauseMs(count: number, nowMs: number): number {
    const target = Math.min(count, this.capacity);
    const nowNanos = toNanos(nowMs);
    const tokens = this.#filledAt(nowNanos);
    if (tokens >= target) return 0;
    const nanos = this.#refill.nanosTo(target, tokens, this.#refill.carried);
    return (Math.max(0, this.#refilledAtNanos - nowNanos) + nanos) / NANOS_PER_MS;
  }

  /** Milliseconds until the target is there; 0 if it is. */
  throttlingDurationMs(nowMs: number): number {
    return this.pauseMs(Math.max(1, this.#targetTokens), nowMs);
  }

  setRate(rate: number, nowMs: number): void {
    this.#addElapsed(toNanos(nowMs));
    const refill = refillOf(this.#options, rate);
    this.#carried = this.#refill.convert(this.#carried, refill);
    this.#refill = refill;
    this.capacity = this.#options.capacity ?? rate;
    this.#targetTokens = targetTokens(this.#options, this.capacity);
    this.#tokens = Math.min(this.#tokens, this.capacity);
    this.#rememberQuiet();
  }

  #addDue(nowNanos: number): void {
    const elapsedNanos = nowNanos - this.#refilledAtNanos;
    if (elapsedNanos > this.#refill.quietNanos(this.#carried)) this.#addElapsed(nowNanos);
  }

  #addElapsed(nowNanos: number): void {
    // Also false for NaN, which would make every later balance NaN.
    if (!(nowNanos > this.#refilledAtNanos)) return;
    this.#tokens = this.#filledAt(nowNanos);
    this.#carried = this.#refill.carried;
    this.#refilledAtNanos = nowNanos;
    this.#rememberQuiet();
  }

  /** The balance at an instant; `#refill.carried` is then the fraction of a token beyond it. */
  #filledAt(nowNanos: number): number {
    const before = this.#tokens;
    const refilledAtNanos = this.#refilledAtNanos;
    const untilNanos = nowNanos > refilledAtNanos ? nowNanos : refilledAtNanos;
    const filled = this.#refill.addTo(before, refilledAtNanos, untilNanos, this.#carried);
    // The cap comes before the caller's own charge, so a large charge on a full bucket is not
    // forgiven; and a balance above the capacity from the start is cut only by what flows over.
    return filled > before ? Math.min(filled, this.capacity) : before;
  }

  #rememberQuiet(): void {
    // One nanosecond early: the exact comparison is made in nanoseconds, by #addDue.
    const quietNanos = this.#refilledAtNanos + this.#refill.quietNanos(this.#carried) - 1;
    this.#quietUntilMs = quietNanos / NANOS_PER_MS;
  }
}

function targetTokens(options: BucketOptions, capacity: number): number {
  return Math.min(options.targetTokens ?? Math.floor(capacity / 100), capacity);
}
