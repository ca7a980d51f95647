import { TokenBucket } from "@sluice/core";

export interface BucketRate {
  readonly rate: number;
  readonly periodMs: number;
  /** The most that one delivery costs: debt is never larger than this and one period's tokens. */
  readonly deliveryMax: number;
}

/** The part of the capacity at which waiting consumers go on, as in Pulsar: 10 ms of a rate per second. */
const TARGET_PART = 1 / 100;

/** The part of the capacity that reservations must leave free before idle ones are taken back. */
const HEADROOM_PART = 1 / 10;

/**
 * A token bucket of which a part is reserved: for permits that were passed on and are not used yet. A
 * reservation takes no token; what is delivered does. So unused permits count within the capacity: in
 * any time W at most `rate × W + capacity` is delivered, however many permits are outstanding.
 */
export class ReservedBucket {
  #bucket: TokenBucket;
  #rate: BucketRate;
  #reserved = 0;

  /** A new bucket starts full. */
  constructor(rate: BucketRate, nowMs: number) {
    this.#rate = rate;
    this.#bucket = bucketOf(rate, nowMs);
  }

  get capacity(): number {
    return this.#bucket.capacity;
  }

  /** Tokens that come in so many milliseconds, whole, and one at least. */
  tokensIn(ms: number): number {
    const { rate, periodMs } = this.#rate;
    return Math.max(1, Math.floor((rate * ms) / periodMs));
  }

  /** Tokens that are there and not reserved; below zero in debt. */
  room(nowMs: number): number {
    return this.#bucket.tokens(nowMs) - this.#reserved;
  }

  /** Whether reservations leave so little of the capacity that idle ones must be taken back for this. */
  isCrowded(need: number): boolean {
    const { capacity } = this.#bucket;
    const wanted = Math.max(Math.min(need, capacity), Math.floor(capacity * HEADROOM_PART));
    return capacity - this.#reserved < wanted;
  }

  reserve(count: number): void {
    this.#reserved += count;
  }

  unreserve(count: number): void {
    this.#reserved -= count;
  }

  /** Takes what was delivered, into debt if necessary. */
  charge(count: number, nowMs: number): void {
    this.#bucket.charge(count, nowMs);
  }

  /**
   * Milliseconds until `need`, and 1 % of the capacity, is there and not reserved; Infinity if
   * reservations must end first.
   */
  pauseMs(need: number, nowMs: number): number {
    const { capacity } = this.#bucket;
    const most = capacity - this.#reserved;
    if (most < Math.min(need, capacity)) return Infinity;
    const target = Math.min(most, Math.max(need, Math.floor(capacity * TARGET_PART)));
    return this.#bucket.pauseMs(this.#reserved + target, nowMs);
  }

  /** From now on. The balance stays, debt included. */
  setRate(rate: BucketRate, nowMs: number): void {
    const { periodMs } = this.#rate;
    this.#rate = rate;
    if (rate.periodMs === periodMs) {
      this.#bucket.setRate(rate.rate, nowMs);
      return;
    }
    const tokens = this.#bucket.tokens(nowMs);
    this.#bucket = bucketOf(rate, nowMs, Math.min(rate.rate, Math.max(0, tokens)));
    if (tokens < 0) this.#bucket.charge(-tokens, nowMs);
  }

  isFull(nowMs: number): boolean {
    return this.#bucket.tokens(nowMs) >= this.#bucket.capacity;
  }
}

function bucketOf(
  { rate, periodMs, deliveryMax }: BucketRate,
  nowMs: number,
  initialTokens: number = rate,
): TokenBucket {
  const maxDebt = Math.min(rate + deliveryMax, Number.MAX_SAFE_INTEGER);
  const clock = { now: () => nowMs };
  return new TokenBucket({ rate, periodMs, initialTokens, maxDebt, resolutionMs: 0, clock });
}
