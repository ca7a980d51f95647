import { TokenBucket } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { COUNT_MAX } from "@sluice/core/internal";
import type { RateNumbers } from "../../rate-setting.ts";
import type { RateSource } from "./rate-source.ts";

/**
 * The time whose tokens a rate without a `burst` may save up, in ms, besides one token: what a late timer
 * or a blocked event loop missed is made up for. Raised, bursts grow; with 50 ms a sliding second sees
 * at most 1.05 times the rate and one call, as a fleet's smooth pacing.
 */
const CATCH_UP_MS = 50;

/**
 * A rate limit of this process alone. Without a `burst` calls are spread evenly over the period.
 *
 * A full bucket keeps the fraction of a token that it has begun, so its next token may come early by up
 * to one token's time. So it counts in parts of a token that take at most a millisecond each.
 */
export class LocalRate implements RateSource {
  readonly reason = "rate";
  readonly text: string;
  /** The burst, in tokens; a full bucket lets even more pass, into debt. */
  readonly countMax: number = 0;
  readonly #bucket: TokenBucket;
  readonly #partsPerToken: number = 1;
  readonly #msPerToken: number = 0;
  /** Parts of tokens that the pause has cost so far, and when it ends. */
  #pauseCharge = 0;
  #pauseEndMs = 0;

  constructor(clock: Clock, text: string, { limit, periodMs, burst }: RateNumbers) {
    const partsMax = Math.floor(COUNT_MAX / (2 * Math.max(limit, burst ?? 1)));
    const partsPerToken = Math.max(1, Math.min(Math.ceil(periodMs / limit), partsMax));
    const partsPerMs = (limit * partsPerToken) / periodMs;
    const capacity =
      burst === undefined
        ? partsPerToken + Math.ceil(partsPerMs * Math.min(CATCH_UP_MS, periodMs))
        : burst * partsPerToken;
    this.text = text;
    this.countMax = capacity / partsPerToken;
    this.#msPerToken = periodMs / limit;
    this.#partsPerToken = partsPerToken;
    this.#bucket = new TokenBucket({
      clock,
      rate: limit * partsPerToken,
      periodMs,
      capacity,
      initialTokens: capacity,
      // Always current: a pause that has passed is never followed by another one for the same token.
      resolutionMs: 0,
    });
  }

  tryTake(count: number, nowMs: number): boolean {
    return this.#bucket.tryAcquire(this.#parts(count), nowMs);
  }

  adjust(count: number, nowMs: number): void {
    if (count >= 0) this.#bucket.charge(this.#parts(count), nowMs);
    else this.#bucket.deposit(this.#parts(-count), nowMs);
  }

  onPaused(pauseMs: number, nowMs: number): void {
    const balance = this.#bucket.tokens(nowMs);
    const wanted = -Math.round((pauseMs / this.#msPerToken) * this.#partsPerToken);
    const before = nowMs < this.#pauseEndMs ? this.#pauseCharge : 0;
    const charge = Math.max(0, Math.min(balance - wanted, COUNT_MAX));
    this.#bucket.charge(charge, nowMs);
    this.#pauseCharge = Math.min(before + charge, COUNT_MAX);
    this.#pauseEndMs = nowMs + pauseMs;
  }

  /** Gives back the tokens of the rest of the pause; those from before it stay lost. */
  onResumed(nowMs: number): void {
    const leftMs = Math.max(0, this.#pauseEndMs - nowMs);
    const left = Math.round((leftMs / this.#msPerToken) * this.#partsPerToken);
    this.#bucket.deposit(Math.min(this.#pauseCharge, left), nowMs);
    this.#pauseCharge = 0;
  }

  pauseMs(count: number, nowMs: number): number {
    const burst = Math.min(count, this.countMax);
    return this.#bucket.pauseMs(this.#parts(burst), nowMs) + (count - burst) * this.#msPerToken;
  }

  isFull(nowMs: number): boolean {
    return this.#bucket.tokens(nowMs) >= this.#bucket.capacity;
  }

  #parts(count: number): number {
    return Math.min(Math.round(count * this.#partsPerToken), COUNT_MAX);
  }
}
