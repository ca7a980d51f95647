import { TokenBucket } from "@sluice/core";
import type { Clock, Reason } from "@sluice/core";
import { COUNT_MAX } from "@sluice/core/internal";
import type { Rate } from "../rate-setting.ts";

/** The calls that wait in a gate, for a rate to look at. */
export interface RateQueue {
  /** Admits the calls whose tokens are there. */
  wake(): void;
  /** Whether the first waiting call waits for this rate, and not for a permit or a pause. */
  isWaiting(): boolean;
}

/**
 * Tokens that a gate takes before it lets a call start. A rate that several processes share can
 * stand behind it, if it answers at once.
 */
export interface RateSource {
  /** What callers are told while tokens are missing. */
  readonly reason: Reason;
  /** A call that wants more tokens than this waits for this many. Default: no bound. */
  readonly countMax?: number;
  /**
   * Takes `count` tokens if they are there, else none. A gate asks again for a call that waits: false is
   * no refusal, and not to be counted as one.
   */
  tryTake(count: number, nowMs: number): boolean;
  /** A call of `count` tokens was refused because this rate had too few. Called once per call. */
  onRefused?(count: number): void;
  /** How long until `count` tokens have come, as far as is known; 0 if they are there. */
  pauseMs(count: number, nowMs: number): number;
  /** Whether forgetting the gate now would give nobody more than the rate. Default: true. */
  isFull?(nowMs: number): boolean;
  /**
   * Wakes the gate's queue whenever tokens come that `pauseMs` did not announce; never from within
   * one of the methods above. Answers how to stop that.
   */
  subscribe?(queue: RateQueue): () => void;
}

/**
 * A rate limit of this process alone.
 *
 * A full bucket keeps the part of a token that it has begun, so its next token may come early by up
 * to one token's time. So it counts in parts of a token that take at most a millisecond each.
 */
export class LocalRate implements RateSource {
  readonly reason = "rate";
  /** A full bucket lets even more pass. */
  readonly countMax: number = 0;
  readonly #bucket: TokenBucket;
  readonly #partsPerToken: number = 1;
  readonly #msPerToken: number = 0;

  constructor(clock: Clock, { limit, periodMs, burst }: Rate) {
    const wanted = Math.ceil(periodMs / limit);
    const most = Math.floor(COUNT_MAX / Math.max(limit, burst));
    const partsPerToken = Math.min(wanted, most);
    this.countMax = burst;
    this.#msPerToken = periodMs / limit;
    this.#partsPerToken = partsPerToken;
    this.#bucket = new TokenBucket({
      clock,
      rate: limit * partsPerToken,
      periodMs,
      capacity: burst * partsPerToken,
      initialTokens: burst * partsPerToken,
      // Always current: a pause that has passed is never followed by another one for the same token.
      resolutionMs: 0,
    });
  }

  tryTake(count: number, nowMs: number): boolean {
    return this.#bucket.tryAcquire(this.#parts(count), nowMs);
  }

  pauseMs(count: number, nowMs: number): number {
    const burst = Math.min(count, this.countMax);
    return this.#bucket.pauseMs(this.#parts(burst), nowMs) + (count - burst) * this.#msPerToken;
  }

  isFull(nowMs: number): boolean {
    return this.#bucket.tokens(nowMs) >= this.#bucket.capacity;
  }

  #parts(count: number): number {
    return Math.min(count * this.#partsPerToken, COUNT_MAX);
  }
}
