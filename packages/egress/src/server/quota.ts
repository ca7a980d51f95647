import { KeyedBuckets } from "@sluice/core";
import type { Clock } from "@sluice/core";
import type { Rate } from "../rate-setting.ts";

/** What a key has left of a policy. */
export interface QuotaState {
  /** Whether it is enough for what was asked. */
  readonly isEnough: boolean;
  /** Whole requests, never negative. */
  readonly remaining: number;
  /** Until it is enough; if it is, until there is more. Undefined when there is no more to come. */
  readonly resetMs: number | undefined;
}

/** Counts are exact up to here. */
const COUNT_MAX = 2 ** 53;

/**
 * One policy: a token bucket for each key.
 *
 * A bucket tells how long until its next whole token counted from the last one, not from now: at
 * five requests an hour that is up to twelve minutes too long. So it counts in parts of a request
 * that take at most a millisecond each, and what it tells is late by less than that, never early.
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
    this.#buckets = new KeyedBuckets(clock, {
      rate: limit * this.#partsPerRequest,
      periodMs,
      capacity: this.#capacity,
      resolutionMs: 0,
      maxKeys,
    });
  }

  /** Keys now held. */
  get size(): number {
    return this.#buckets.size;
  }

  /**
   * What `take` would find. A full bucket is enough for any cost, and goes into debt, so that
   * nothing is refused for ever for being large.
   */
  look(key: string, cost: number, nowMs: number): QuotaState {
    // Keys that are full again are forgotten only as others come, and a look alone makes none come.
    this.#buckets.tryAcquire(key, 0, nowMs);
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

  /** Takes what a `look` at the same instant found enough. */
  take(key: string, cost: number, nowMs: number): void {
    this.#buckets.tryAcquire(key, this.#parts(cost), nowMs);
  }

  #parts(cost: number): number {
    return Math.min(cost * this.#partsPerRequest, COUNT_MAX);
  }
}
