import { KeyedBuckets } from "@sluice/core";
import type { Clock } from "@sluice/core";
import { COUNT_MAX } from "@sluice/core/internal";
import type { Rate } from "../../rate-setting.ts";
import type { QuotaState } from "./verdict.ts";

/**
 * One policy: a token bucket for each key.
 *
 * A full bucket keeps the part of a token that it has begun, so its next token may come early by up
 * to one token's time: at five requests an hour, twelve minutes. So it counts in parts of a request
 * that take at most a millisecond each.
 */
export class Quota {
  readonly rate: Rate;
  readonly #buckets: KeyedBuckets;
  readonly #partsPerRequest: number;
  readonly #capacity: number;

  constructor(clock: Clock, rate: Rate, maxKeys: number) {
    const { limit, periodMs, burst } = rate;
    const wanted = Math.ceil(periodMs / limit);
    const most = Math.floor(COUNT_MAX / Math.max(limit, burst));
    this.rate = rate;
    this.#partsPerRequest = Math.min(wanted, most);
    this.#capacity = burst * this.#partsPerRequest;
    this.#buckets = new KeyedBuckets({
      clock,
      rate: limit * this.#partsPerRequest,
      periodMs,
      capacity: this.#capacity,
      initialTokens: this.#capacity,
      resolutionMs: 0,
      maxKeys,
    });
  }

  /** Keys now held. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * What `tryTake` would find. A full bucket is enough for any cost, and goes into debt, so that
   * nothing is refused for ever for being large.
   */
  look(key: string, cost: number, nowMs: number): QuotaState {
    // Keys that are full again are forgotten only as others come, and a look alone makes none come.
    this.#buckets.tryAcquire(key, 0, nowMs);
    return this.state(key, cost, nowMs);
  }

  /** As `look`, right after a `tryTake` of the key. */
  state(key: string, cost: number, nowMs: number): QuotaState {
    const parts = this.#buckets.tokens(key, nowMs);
    const needed = Math.min(this.#parts(cost), this.#capacity);
    const remaining = Math.max(0, Math.floor(parts / this.#partsPerRequest));
    if (parts < needed) {
      return { isEnough: false, remaining, resetMs: this.#buckets.pauseMs(key, needed, nowMs) };
    }
    const more = (remaining + 1) * this.#partsPerRequest;
    if (more > this.#capacity) return { isEnough: true, remaining, resetMs: undefined };
    return { isEnough: true, remaining, resetMs: this.#buckets.pauseMs(key, more, nowMs) };
  }

  /** Charges a request if there is enough for it. */
  tryTake(key: string, cost: number, nowMs: number): boolean {
    return this.#buckets.tryAcquire(key, this.#parts(cost), nowMs);
  }

  #parts(cost: number): number {
    return Math.min(cost * this.#partsPerRequest, COUNT_MAX);
  }
}
