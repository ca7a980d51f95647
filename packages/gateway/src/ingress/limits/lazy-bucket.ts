import { TokenBucket } from "@sluice/core";
import { SECOND_MS } from "@sluice/core/internal";
import { Burst } from "./burst.ts";

/**
 * Milliseconds for which charges are only added up. Raising it loses refill while the bucket is nearly
 * full: at most this much of the rate.
 */
const APPLY_MS = 10;

/** The part of the capacity at which waiting frames go on, as in Pulsar: 10 ms of the rate. */
const TARGET_PART = 1 / 100;

/**
 * A token bucket whose charges are added up for some milliseconds. Meanwhile it is known to have at
 * least the tokens of the last reading less these charges; only where that does not suffice is the exact
 * balance found, which takes twenty times as long. The balance is never higher than that of a bucket
 * which is charged at once.
 *
 * What a burst leaves of a full bucket is forfeited after the first second, see `Burst`.
 */
export class LazyBucket {
  readonly #bucket: TokenBucket;
  #rate: number;
  /** A lower bound of the balance: the last reading less the charges since then. */
  #left = 0;
  #owed = 0;
  #readAtMs = 0;
  readonly #burst: Burst;

  /** Starts full. */
  constructor(rate: number, maxDebt: number, nowMs: number) {
    // Exact: a charge is applied together with a reading.
    const clock = { now: () => nowMs };
    // Rates up to 2^53 are taken, which leaves no number for more.
    const debtMost = Math.min(maxDebt, Number.MAX_SAFE_INTEGER);
    this.#bucket = new TokenBucket({ rate, maxDebt: debtMost, resolutionMs: 0, clock });
    this.#rate = rate;
    this.#burst = new Burst(this.#bucket.capacity, nowMs);
    this.#read(nowMs);
  }

  get capacity(): number {
    return this.#bucket.capacity;
  }

  /** A lower bound of the balance, from a reading of the last milliseconds. */
  get leftAtLeast(): number {
    return this.#left;
  }

  setRate(rate: number, nowMs: number): void {
    this.#read(nowMs);
    this.#bucket.setRate(rate, nowMs);
    this.#rate = rate;
    this.#burst.restart(this.#bucket.tokens(nowMs), nowMs);
    this.#read(nowMs);
  }

  /** Whether it has more than this. */
  hasMoreThan(count: number, nowMs: number): boolean {
    if (this.#left > count && nowMs - this.#readAtMs < APPLY_MS) return true;
    this.#read(nowMs);
    return this.#left > count;
  }

  charge(count: number): void {
    this.#owed += count;
    this.#left -= count;
  }

  tokens(nowMs: number): number {
    this.#read(nowMs);
    return this.#left;
  }

  /** Milliseconds until 1 % of the capacity, and one token, is there beside what is reserved. */
  pauseMs(reserved: number, nowMs: number): number {
    const target = reserved + Math.max(1, Math.floor(this.capacity * TARGET_PART));
    // More than the capacity is never there: reservations must end first.
    if (target > this.capacity && reserved > 0) return Infinity;
    this.#read(nowMs);
    return this.#bucket.pauseMs(target, nowMs);
  }

  /** Milliseconds until this part of the capacity is there once `held` has gone as well. */
  msUntilLeft(part: number, held: number, nowMs: number): number {
    const missing = Math.max(1, this.capacity * part) + held - this.tokens(nowMs);
    return Math.max(0, (missing * SECOND_MS) / this.#rate);
  }

  #read(nowMs: number): void {
    if (this.#owed > 0) {
      // Charged by then at the latest. At the time of a reading after a break, a full bucket would lose the charges
      // of before the break once more.
      const chargedAtMs = Math.min(nowMs, this.#readAtMs + APPLY_MS);
      this.#look(chargedAtMs);
      this.#bucket.charge(this.#owed, chargedAtMs);
      this.#owed = 0;
    }
    this.#look(nowMs);
    this.#left = this.#bucket.tokens(nowMs);
    this.#readAtMs = nowMs;
  }

  #look(nowMs: number): void {
    const tokens = this.#bucket.tokens(nowMs);
    const surplus = this.#burst.surplusAt(tokens, this.#rate, this.capacity, nowMs);
    if (surplus > 0) this.#bucket.charge(surplus, nowMs);
  }
}
